"""`Job`: one execution under its id, what it says, who waits for it, and its answer."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from functools import partial
from typing import Any

from ..execution import Execution
from ..programs.handle import ProgramExecution
from .refusals import Refusal

PATIENCE = 2.0  # seconds for a requester that hung up to come back with the same id


class Event:
    """A line of NDJSON, spelled if somebody reads it."""

    __slots__ = ("_fields", "is_small", "kind", "settled")

    def __init__(
        self, kind: str, fields: Callable[[], dict[str, Any]], *, is_small: bool = False
    ) -> None:
        """`is_small`: spelled so soon that nobody notices."""
        self.kind = kind
        self.is_small = is_small
        self.settled = False
        self._fields = fields

    def to_json(self) -> dict[str, Any]:
        return {"event": self.kind, **self._fields()}

    def settle(self) -> None:
        """It is not told to somebody who comes back, and what it held is let go."""
        self.settled = True
        self._fields = dict


class Job:
    """All on the service's loop."""

    def __init__(self, execution_id: str, digest: bytes, is_named: bool) -> None:
        self.id = execution_id
        self.digest = digest
        self.is_named = is_named  # by the requester, who may come again
        self.handle: Execution[Any] | None = None
        self.answer: bytes | None = None  # JSON; None also if it is no longer kept
        self.is_kept = True
        self.refusal: Refusal | None = None  # why there is no answer
        self.has_ended = False
        self._events: list[Event] = []
        self._waiting: list[asyncio.Future[None]] = []
        self._watchers = 0
        self._giving_up: asyncio.TimerHandle | None = None
        self._following: asyncio.Task[None] | None = None

    # -- what the execution tells

    def tell(self, event: Event) -> None:
        self._events.append(event)
        self._wake()

    def end(self, answer: bytes | None, refusal: Refusal | None = None) -> None:
        self.answer, self.refusal, self.has_ended = answer, refusal, True
        self.handle = None
        if self._giving_up is not None:
            self._giving_up.cancel()
        self._forget()
        self._wake()

    def drop_answer(self) -> None:
        """It is not kept for those who come later."""
        self.is_kept = False
        self._forget()

    def _forget(self) -> None:
        """Whoever waits is told everything; later the answer says it all, and is what is kept."""
        if self.has_ended and not self._watchers:
            self._events = []
            if not self.is_kept:
                self.answer = None

    def terminate(self, reason: str) -> None:
        if self.handle is not None:
            self.handle.terminate(reason)

    # -- who waits

    def watch(self) -> None:
        """Somebody waits for it from now on."""
        self._watchers += 1
        if self._giving_up is not None:
            self._giving_up.cancel()
            self._giving_up = None

    def unwatch(self, give_up: Callable[[Job], None]) -> None:
        """Somebody waits no longer; if nobody does, it is given up unless one comes back."""
        self._watchers -= 1
        self._forget()
        if self._watchers == 0 and not self.has_ended:
            loop = asyncio.get_running_loop()
            self._giving_up = loop.call_later(PATIENCE, give_up, self)

    async def settled(self) -> bytes:
        """The answer; raises the refusal if there is none."""
        while not self.has_ended:
            await self._change()
        if self.answer is None:
            raise self.refusal or Refusal(
                "conflict", "this execution_id was executed, and its answer is no longer kept"
            )
        return self.answer

    async def events(self) -> AsyncIterator[Event]:
        """Every event from the first on, as it comes; ends before the result."""
        self._follow()
        told = 0
        while True:
            while told < len(self._events):
                event = self._events[told]
                told += 1
                if not event.settled:
                    yield event
            if self.has_ended and (self._following is None or self._following.done()):
                return
            await self._change()

    def _follow(self) -> None:
        """From now on a program's output is told piece by piece; it is not, if nobody asks for it."""
        if self._following is None and isinstance(self.handle, ProgramExecution):
            self._following = asyncio.create_task(self._tell_output(self.handle))
            self._following.add_done_callback(lambda _: self._wake())

    async def _tell_output(self, handle: ProgramExecution) -> None:
        async for name, text in handle.stream():
            self.tell(Event(name, partial(dict, text=text), is_small=True))

    async def _change(self) -> None:
        future: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.append(future)
        await future

    def _wake(self) -> None:
        waiting, self._waiting = self._waiting, []
        for future in waiting:
            if not future.done():
                future.set_result(None)
