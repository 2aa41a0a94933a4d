"""The bridge calls of one run: made, awaited, answered, and given up when it ends."""

from __future__ import annotations

import asyncio
import contextvars
import inspect
import os
from collections.abc import Awaitable
from time import monotonic
from types import CoroutineType
from typing import Any, Protocol

from ..bridges import Bridges
from ..errors import ProtocolError, RunEndedError
from ..wire import messages
from ..wire.frame import Buffer, pack
from ..wire.values import encode, encode_error
from .complaints import Complaints

# After a synchronous answer the guest often calls again at once. Polling for a moment is cheaper
# than sleeping and being woken, if there is another processor for the guest; it goes on for as long
# as the guest is that quick.
_LINGER_SECONDS = 400e-6 if (os.cpu_count() or 1) > 1 else 0.0
_NEVER_AWAITABLE = frozenset((type(None), bool, int, float, str, bytes, list, tuple, dict))
_MOST_ERRORS = 100
_ONE_OF_CALLS = [int, int, list]
_AT_ONCE = 500  # calls that are cancelled in one turn of the loop

Call = tuple[asyncio.Task[Any], Awaitable[Any], int]


class Guest(Protocol):
    """Where answers go."""

    def post(self, frame: list[Buffer], *, now: bool = False) -> None:
        """Sends a frame; `now` if the guest waits for it."""

    def post_answer(self, call: int, json: str) -> None:
        """The value of an asynchronous call."""


class _Nobody:
    """The guest of a run that has ended."""

    def post(self, frame: list[Buffer], *, now: bool = False) -> None:
        pass

    def post_answer(self, call: int, json: str) -> None:
        pass


class Calls:
    """Lives on the run's loop. `blocked` says that a synchronous bridge is running there."""

    def __init__(
        self,
        loop: asyncio.AbstractEventLoop,
        context: contextvars.Context,
        bridges: Bridges,
        guest: Guest,
        complaints: Complaints,
    ) -> None:
        self._loop = loop
        self._context = context
        self._bridges = bridges
        self._guest: Guest = guest
        self._complaints = complaints
        # By the order they began in: the task, what it awaits, what that weighs.
        self._tasks: dict[int, Call] = {}
        self.begun = 0  # how many of those there were
        self.weight = 0  # of the arguments that calls in flight hold, about
        self._answered_at = 0.0
        self._stopped = self._closed = False
        self.blocked = False
        self.linger_until = 0.0
        self.errors: list[BaseException] = []  # the first that bridges raised

    @property
    def in_flight(self) -> int:
        return len(self._tasks)

    def make_all(self, calls: Any, weight: int) -> None:
        """The calls of one CALLS message; `weight` is that of all of them."""
        if not isinstance(calls, list) or len(calls) > messages.MAX_CALLS:
            raise ProtocolError(f"CALLS is not a list of at most {messages.MAX_CALLS} calls")
        for call in calls:
            if type(call) is not list or list(map(type, call)) != _ONE_OF_CALLS:
                raise ProtocolError("one of CALLS is not two numbers and a list of arguments")
            number, bridge, args = call
            if self._bridges.function(bridge)[1] == messages.SYNC:
                raise ProtocolError("one of CALLS is synchronous")
            self.make(number, bridge, args, weight // len(calls))

    def make(self, call: int, bridge: int, args: Any, weight: int) -> None:
        function, mode = self._bridges.function(bridge)
        if type(args) is not list or not 0 <= call < 1 << 32:
            raise ProtocolError("CALL has no number or no list of arguments")
        if self._stopped:
            return
        asked_soon = mode == messages.SYNC and monotonic() - self._answered_at < _LINGER_SECONDS
        self.blocked = mode != messages.ASYNC
        try:
            value = function(*args)
        except BaseException as error:
            self.blocked = False
            self._raised(call, error, wanted=mode != messages.ONE_WAY)
            return
        self.blocked = False
        kind = type(value)
        if kind is CoroutineType or (kind not in _NEVER_AWAITABLE and inspect.isawaitable(value)):
            if mode == messages.SYNC:
                self._guest.post(pack(messages.PROMISE, call), now=True)
            self._await(call, value, weight, wanted=mode != messages.ONE_WAY)
        elif mode != messages.ONE_WAY:
            self._return(call, value, now=True)
            self._answered_at = monotonic()
            self.linger_until = self._answered_at + _LINGER_SECONDS if asked_soon else 0.0

    def await_lent(self) -> None:
        """Starts awaiting what was lent since the last time."""
        for number, awaitable in self._bridges.take_awaitables():
            self._await(number, awaitable, 0, wanted=True)

    def _await(self, call: int, awaitable: Awaitable[Any], weight: int, *, wanted: bool) -> None:
        self.begun = number = self.begun + 1
        answer = self._answer(number, call, awaitable, wanted)
        task = self._loop.create_task(answer, context=self._context)
        if not task.done():  # some loops begin tasks at once
            self._tasks[number] = task, awaitable, weight
            self.weight += weight

    async def _answer(
        self, number: int, call: int, awaitable: Awaitable[Any], wanted: bool
    ) -> None:
        try:
            value = await awaitable
        except RunEndedError as error:  # it waited for the guest; nobody made a mistake
            if not self._closed:
                self._raised(call, error, wanted=wanted)
        except BaseException as error:
            if self._closed:
                raise
            self._raised(call, error, wanted=wanted)
        else:
            if wanted:
                self._return(call, value)
        finally:  # not in a callback, which would be another turn of the loop for each
            if number in self._tasks:
                self.weight -= self._tasks.pop(number)[2]

    def _return(self, call: int, value: Any, *, now: bool = False) -> None:
        try:
            text, attachments = encode(value, "return value", self._bridges)
            if not now and text[0] == "P":
                self._guest.post_answer(call, text[1:])
                return
            frame = pack(messages.RETURN, call, 0, text.encode(), attachments)
        except Exception as error:  # not only SerializationError: it ran methods of the value
            self._note(error)
            self._throw(call, error)
            return
        self._guest.post(frame, now=now)
        self.await_lent()

    def _raised(self, call: int, error: BaseException, *, wanted: bool) -> None:
        """Told to the guest if it waits; KeyboardInterrupt and SystemExit are raised again on the loop."""
        self._note(error)
        if wanted:
            self._throw(call, error)
        else:
            self._complaints.tell("a one-way bridge raised", error)
        pass_on(self._loop, error)

    def _note(self, error: BaseException) -> None:
        """For the author of the bridge, and without our own frame."""
        if len(self.errors) < _MOST_ERRORS:
            trace = error.__traceback__
            self.errors.append(error.with_traceback(trace.tb_next if trace else None))

    def _throw(self, call: int, error: BaseException) -> None:
        text = encode_error(error).encode()
        self._guest.post(pack(messages.THROW, call, 0, text), now=True)

    def stop(self) -> None:
        """From any thread: no more bridges are called."""
        self._stopped = True

    def close(self) -> None:
        """Cancels what is still awaited: nobody waits for the answers."""
        self._stopped = self._closed = True
        self._guest = _Nobody()
        self._cancel()

    def close_once_begun(self) -> None:
        """The same, but every call that the guest made before its end has at least begun."""
        self._stopped = self._closed = True
        self._guest = _Nobody()
        if self._tasks:
            self._loop.call_soon(self._cancel)

    def _cancel(self) -> None:
        self._cancel_some(list(self._tasks.values()))

    def _cancel_some(self, calls: list[Call]) -> None:
        """Some in each turn of the loop: there may be very many, and each ends in a turn."""
        for task, _, _ in calls[-_AT_ONCE:]:
            task.cancel()
        for _, awaitable, _ in calls[-_AT_ONCE:]:
            _close_if_never_begun(awaitable)
        del calls[-_AT_ONCE:]
        if calls:
            self._loop.call_soon(self._cancel_some, calls)


def spawn(
    loop: asyncio.AbstractEventLoop, context: contextvars.Context, awaitable: Awaitable[Any]
) -> asyncio.Task[Any]:
    coroutine = awaitable if inspect.iscoroutine(awaitable) else _awaited(awaitable)
    return loop.create_task(coroutine, context=context)


async def _awaited(awaitable: Awaitable[Any]) -> Any:
    return await awaitable


def _close_if_never_begun(awaitable: Awaitable[Any]) -> None:
    """A coroutine that is cancelled before it starts would be reported as never awaited."""
    if (
        inspect.iscoroutine(awaitable)
        and inspect.getcoroutinestate(awaitable) == inspect.CORO_CREATED
    ):
        awaitable.close()


def pass_on(loop: asyncio.AbstractEventLoop, error: BaseException) -> None:
    """On the next turn of the loop, after what has already been received was handled."""
    if isinstance(error, KeyboardInterrupt | SystemExit):
        loop.call_soon(_raise, error)


def _raise(error: BaseException) -> None:
    raise error
