"""Guest functions and promises that the host holds: usable while the run lives, refused after."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from ..errors import ProtocolError, RunEndedError
from ..values import GuestError, GuestFunction
from ..wire import messages

_AT_ONCE = 500  # promises that are failed in one turn of the loop
Send = Callable[[int, int, Sequence[Any]], None]  # number of the call, of the function, arguments


class Guests:
    """Makes the Python objects that stand for them, and settles what the host waits for."""

    def __init__(self, loop: asyncio.AbstractEventLoop, send: Send) -> None:
        self._loop = loop
        self._send: Send | None = send
        self._calls: dict[int, asyncio.Future[Any]] = {}
        # By numbers that the worker chooses, as text: a dict of chosen ints can be made slow.
        self._promises: dict[str, asyncio.Future[Any]] = {}
        self._last_call = 0
        self._owed = 0
        self._reason = ""

    def guest_function(self, ident: int, name: str) -> GuestFunction:
        return GuestFunction(name, partial(Guests._call, self, ident, name))

    def _call(self, ident: int, name: str, args: Sequence[Any]) -> asyncio.Future[Any]:
        if self._send is None:
            message = f"guest function {name!r} was called after its run had ended"
            raise RunEndedError(message + self._reason)
        number = self._last_call + 1
        self._send(number, ident, args)
        self._last_call = number
        future = self._calls[number] = self._loop.create_future()
        return future

    def guest_promise(self, ident: int) -> asyncio.Future[Any]:
        if str(ident) in self._promises:
            raise ProtocolError("it lent a promise twice")
        future = self._promises[str(ident)] = self._loop.create_future()
        future.add_done_callback(_retrieve)
        return future

    def answer(self, kind: int, number: int, value: Any) -> asyncio.Future[Any]:
        """Settles the future that a worker's answer is for."""
        threw = kind in (messages.GUEST_THROW, messages.REJECTED)
        if threw and not isinstance(value, GuestError):
            raise ProtocolError("an answer threw something other than an error")
        future = self._waiting_for(kind, number)
        if future.done():
            return future  # nobody waits for it any more
        if threw:
            future.set_exception(value)
        else:
            future.set_result(value)
        return future

    def _waiting_for(self, kind: int, number: int) -> asyncio.Future[Any]:
        if kind in (messages.GUEST_RETURN, messages.GUEST_THROW):
            future = self._calls.pop(number, None)
        else:
            future = self._promises.pop(str(number), None)
        if future is None:
            raise ProtocolError(f"it sent an answer of kind {kind} that nobody waits for")
        return future

    def owes_more(self) -> bool:
        """Whether the guest owes more promises than when this was asked before."""
        before, self._owed = self._owed, len(self._promises)
        return self._owed > before

    def refuse(self, reason: str) -> None:
        """From any thread: further calls. The first reason counts."""
        self._reason = self._reason or f" ({reason})"
        self._send = None

    def close(self) -> None:
        """Refuses further calls, and fails those that the guest has not answered."""
        self._send = None
        if not (self._calls or self._promises) or self._loop.is_closed():
            return
        self._fail([*self._calls.values(), *self._promises.values()])
        self._calls.clear()
        self._promises.clear()

    def _fail(self, waiting: list[asyncio.Future[Any]]) -> None:
        """Some in each turn of the loop: there may be very many."""
        for future in waiting[-_AT_ONCE:]:
            if not future.done():
                message = f"the run ended before the guest answered{self._reason}"
                future.set_exception(RunEndedError(message))
                future.add_done_callback(_retrieve)
        del waiting[-_AT_ONCE:]
        if waiting:
            self._loop.call_soon(self._fail, waiting)


def _retrieve(future: asyncio.Future[Any]) -> None:
    """Marks the exception as retrieved, so that asyncio does not log it."""
    if not future.cancelled():
        future.exception()
