"""The runs of a server by their handles. A handle is good on any connection, and ends with the server."""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from ...execution import CodeExecution, Execution
from .answers import Answer, answer_of, still_running
from .questions import Questions

_MOST_ENDED = 50  # runs that have ended and can still be asked about
Start = Callable[["KeptRun"], Execution[Any]]


class KeptRun:
    """One run, for all who ask about it. When it ends only its answer is kept."""

    def __init__(self, handle: str) -> None:
        self.handle = handle
        self.questions = Questions(self.changed)
        self._watchers: set[asyncio.Event] = set()
        self._execution: Execution[Any] | None = None
        self._task: asyncio.Task[Any] | None = None
        self._answer: Answer | None = None

    def begin(self, execution: Execution[Any]) -> None:
        """Awaits it here, so that whoever asks about it may go away without ending it."""
        self._execution = execution
        self._task = asyncio.create_task(execution)
        self._task.add_done_callback(self._ended)

    @property
    def answer(self) -> Answer:
        if self._answer is not None:
            return self._answer
        assert self._execution is not None
        return still_running(self.handle, self._execution)

    @property
    def has_ended(self) -> bool:
        return self._answer is not None

    @property
    def reports(self) -> Sequence[Any]:
        """A live view, which whoever has it keeps when the run ends."""
        return self._execution.reports if isinstance(self._execution, CodeExecution) else ()

    def stop(self, reason: str) -> None:
        if self._execution is not None:
            self._execution.terminate(reason)

    def changed(self, _: Any = None) -> None:
        """There is something new: a report, a question, the end."""
        for watcher in self._watchers:
            watcher.set()

    @contextmanager
    def watched(self) -> Iterator[asyncio.Event]:
        """An event that is set whenever there is something new."""
        watcher = asyncio.Event()
        self._watchers.add(watcher)
        try:
            yield watcher
        finally:
            self._watchers.remove(watcher)

    def _ended(self, task: asyncio.Task[Any]) -> None:
        if task.cancelled():
            result: Any = RuntimeError("the server is shutting down")
        else:
            result = task.exception() or task.result()
        self._answer = answer_of(self.handle, result)
        self._task = self._execution = None
        self.changed()


class Runs:
    """All that go on, and the last of those that ended."""

    def __init__(self) -> None:
        self._runs: dict[str, KeptRun] = {}

    def start(self, start: Start) -> KeptRun:
        """Raises what `start` raises, and then keeps nothing."""
        kept = KeptRun(secrets.token_urlsafe(16))
        kept.begin(start(kept))
        self._runs[kept.handle] = kept
        self._forget_the_oldest()
        return kept

    def get(self, handle: str) -> KeptRun | None:
        return self._runs.get(handle)

    def __iter__(self) -> Iterator[KeptRun]:
        return iter(list(self._runs.values()))

    def close(self) -> None:
        for kept in self._runs.values():
            kept.stop("the server was closed")

    def _forget_the_oldest(self) -> None:
        ended = [handle for handle, kept in self._runs.items() if kept.has_ended]
        for handle in ended[:-_MOST_ENDED]:
            del self._runs[handle]
