"""Plain functions of tools run on threads, so that calls run side by side and a loop stays free.

A function may block, and may wait for another call of the same turn, so none may run on the loop. The loop
waits for a moment for one that was quick the last time, which costs half of being told of its end.
"""

from __future__ import annotations

import asyncio
import contextvars
import os
import threading
from collections import deque
from collections.abc import Callable, Mapping
from contextlib import suppress
from time import perf_counter
from typing import Any

MOST = 64  # threads; further calls wait
MOMENT = 0.0005  # seconds that a loop may wait for a quick function


class Job:
    """One call of a function. Its thread ends it; whoever takes the outcome first has it."""

    __slots__ = ("_args", "_context", "_ended", "_function", "_heard", "_outcome", "seconds")

    def __init__(self, function: Callable[..., Any], args: Mapping[str, Any]) -> None:
        self._function = function
        self._args = args
        self._context = contextvars.copy_context()
        self._ended = threading.Lock()
        self._ended.acquire()
        self._outcome: tuple[bool, Any] = False, None  # whether it failed, and what it gave
        self._heard: tuple[asyncio.AbstractEventLoop, asyncio.Future[None]] | None = None
        self.seconds = 0.0  # that it took, without waiting for a thread

    def run(self) -> None:
        began = perf_counter()
        try:
            self._outcome = False, self._context.run(self._function, **self._args)
        except BaseException as error:
            self._outcome = True, as_failure(error)
        self.seconds = perf_counter() - began

    def end(self) -> None:
        """Whoever is in `ends_within` goes on at once; the loop is told if it listens by now."""
        self._ended.release()
        if self._heard is not None:
            loop, answer = self._heard
            with suppress(RuntimeError):  # the loop was closed meanwhile
                loop.call_soon_threadsafe(_wake, answer)

    def ends_within(self, seconds: float) -> bool:
        """Blocks for so long."""
        return self._ended.acquire(timeout=seconds)

    async def wait(self) -> None:
        loop = asyncio.get_running_loop()
        answer: asyncio.Future[None] = loop.create_future()
        self._heard = loop, answer
        if not self._ended.acquire(blocking=False):  # else it ended before it knew who listens
            await answer

    def outcome(self) -> Any:
        failed, given = self._outcome
        if failed:
            raise given
        return given


class _Worker:
    """A thread that waits. Whoever takes it from the idle ones gives it a job, and `go` after that."""

    __slots__ = ("go", "job")

    def __init__(self) -> None:
        self.go = threading.Lock()
        self.go.acquire()
        self.job: Job | None = None

    def give(self, job: Job) -> None:
        self.job = job
        self.go.release()

    def next(self) -> Job:
        self.go.acquire()
        job, self.job = self.job, None
        assert job is not None
        return job


class Threads:
    """Daemon threads, made when they are needed and then kept."""

    def __init__(self) -> None:
        self._lock = threading.Lock()  # for all but the idle ones, who come and go in one step
        self._idle: list[_Worker] = []
        self._backlog: deque[Job] = deque()
        self._count = 0

    def begin(self, job: Job) -> None:
        try:
            worker = self._idle.pop()
        except IndexError:
            self._begin_elsewhere(job)
        else:
            worker.give(job)

    def _begin_elsewhere(self, job: Job) -> None:
        with self._lock:
            if self._count < MOST:
                self._count += 1
                threading.Thread(
                    target=self._serve, args=(job,), name="sandbox-tool", daemon=True
                ).start()
                return
            self._backlog.append(job)
        self._give_backlog()  # one may be idle by now

    def _give_backlog(self) -> None:
        with self._lock:
            while self._backlog:
                try:
                    worker = self._idle.pop()
                except IndexError:
                    return
                worker.give(self._backlog.popleft())

    def _serve(self, job: Job) -> None:
        worker = _Worker()
        while True:
            job.run()
            self._idle.append(worker)  # before its end is known: the next call finds this thread
            if self._backlog:
                self._give_backlog()
            job.end()
            del job  # what it holds is not kept until the next call
            job = worker.next()


class Threaded:
    """A plain function that is called on threads."""

    def __init__(self, function: Callable[..., Any], threads: Threads | None = None) -> None:
        self._function = function
        self._threads = threads or _threads
        self._is_quick = True  # as far as its last calls show

    async def __call__(self, args: Mapping[str, Any]) -> Any:
        job = Job(self._function, args)
        self._threads.begin(job)
        if not self._is_quick or not job.ends_within(MOMENT):
            self._is_quick = False
            await job.wait()
            self._is_quick = job.seconds < MOMENT
        return job.outcome()


def _wake(answer: asyncio.Future[None]) -> None:
    if not answer.done():  # else nobody waits for it any more
        answer.set_result(None)


def as_failure(error: BaseException) -> Exception:
    """What would end the loop, such as SystemExit, or could not be told is an ordinary failure here."""
    if isinstance(error, Exception) and not isinstance(error, StopIteration):
        return error
    return RuntimeError(f"the tool raised {type(error).__name__}")


_threads = Threads()


def _forget() -> None:
    """Threads stay with the parent of a fork."""
    _threads.__init__()  # type: ignore[misc]  # its lock may be held by a thread that is not here


os.register_at_fork(after_in_child=_forget)
