"""Reports on their way into the caller's sink, which may be asynchronous and may raise."""

from __future__ import annotations

import asyncio
import contextvars
import inspect
from collections.abc import Callable
from typing import Any

from .calls import pass_on, spawn
from .complaints import Complaints


class Sinks:
    """Calls one sink and keeps track of what it has yet to finish."""

    def __init__(
        self,
        loop: asyncio.AbstractEventLoop,
        context: contextvars.Context,
        sink: Callable[[Any], Any],
        complaints: Complaints,
    ) -> None:
        self._loop = loop
        self._context = context
        self._sink = sink
        self._complaints = complaints
        self._tasks: set[asyncio.Task[Any]] = set()
        self._last: asyncio.Task[None] | None = None

    @property
    def in_flight(self) -> int:
        return len(self._tasks)

    def give(self, value: Any) -> bool:
        """Whether the sink has yet to finish with it."""
        try:
            given = self._sink(value)
        except BaseException as error:
            self._complaints.tell("the report sink raised", error)
            pass_on(self._loop, error)
            return False
        if given is None or not inspect.isawaitable(given):
            return False
        task = spawn(self._loop, self._context, given)
        self._tasks.add(task)
        task.add_done_callback(self._done)
        return True

    def _done(self, task: asyncio.Task[Any]) -> None:
        self._tasks.discard(task)
        if not task.cancelled() and task.exception() is not None:
            self._complaints.tell("the report sink raised", task.exception())

    def when_finished(self, then: Callable[[], None]) -> None:
        """Once everything given so far has been taken."""
        self._last = spawn(self._loop, self._context, self._finish(then))

    async def _finish(self, then: Callable[[], None]) -> None:
        await asyncio.gather(*self._tasks, return_exceptions=True)
        then()

    def cancel(self) -> None:
        for task in self._tasks:
            task.cancel()
