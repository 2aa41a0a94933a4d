"""Which ids have been executed: those under way, and for ten minutes those that have ended."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from time import monotonic

from .job import Job
from .refusals import refuse

SECONDS_KEPT = 600.0
MOST_IDS = 200_000
MOST_BYTES = 128 * 2**20  # of answers; over that the oldest are dropped, but never their ids


class Book:
    """An id is never executed twice within that time, also if its answer had to be dropped."""

    def __init__(self, now: Callable[[], float] = monotonic) -> None:
        self._now = now
        self._jobs: dict[str, Job] = {}
        self._ended: deque[tuple[float, Job]] = deque()
        self._with_answer: deque[Job] = deque()
        self._bytes = 0

    def __len__(self) -> int:
        return len(self._jobs)

    def running(self) -> Iterator[Job]:
        return (job for job in list(self._jobs.values()) if not job.has_ended)

    def find(self, execution_id: str) -> Job | None:
        self._forget_old()
        return self._jobs.get(execution_id)

    def add(self, job: Job) -> None:
        if len(self._jobs) >= MOST_IDS:
            refuse("busy", "too many different execution_ids in ten minutes; try again later")
        self._jobs[job.id] = job

    def ended(self, job: Job) -> None:
        """Keeps what may be asked for again."""
        if self._jobs.get(job.id) is not job:
            return  # given up
        if not job.is_named or job.answer is None:
            del self._jobs[job.id]
            return
        self._ended.append((self._now(), job))
        self._with_answer.append(job)
        self._bytes += len(job.answer)
        while self._bytes > MOST_BYTES:
            self._drop_answer(self._with_answer.popleft())

    def forget(self, job: Job) -> None:
        """It was given up: the same id may be executed again."""
        if self._jobs.get(job.id) is job:
            del self._jobs[job.id]

    def _drop_answer(self, job: Job) -> None:
        if job.is_kept and job.answer is not None:
            self._bytes -= len(job.answer)
            job.drop_answer()

    def _forget_old(self) -> None:
        while self._ended and self._now() - self._ended[0][0] > SECONDS_KEPT:
            _, job = self._ended.popleft()
            self._drop_answer(job)
            self.forget(job)
        while self._with_answer and not self._with_answer[0].is_kept:
            self._with_answer.popleft()
