"""`open_code`'s handle, and the module that `async with` gives: one sandbox, many calls.

A run that stays open is bounded like any other. Whoever cancels a call ends the module, because
nobody knows what the guest is doing then.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Sequence
from itertools import islice
from typing import Any, Self

from .backend import CANCELLED
from .contract import CodeExecutionLog, RunFailed
from .errors import RunEndedError
from .execution import CodeExecution
from .spelling import nearest
from .transcript import waker
from .values import GuestFunction

_CONSIDERED, _LONGEST = 200, 100  # exports, and characters of their names, that are suggested


class OpenCode:
    """What `open_code` returns: `async with` it to have the module, whose exports can be called."""

    def __init__(self, run: CodeExecution) -> None:
        self._run = run
        self._entered = False

    @property
    def running(self) -> bool:
        """True until the module has ended."""
        return self._run.running

    @property
    def started(self) -> bool:
        """True once it executes; until then it waits in the queue."""
        return self._run.started

    @property
    def reports(self) -> Sequence[Any]:
        """A live, read-only view of the values reported so far."""
        return self._run.reports

    @property
    def logs(self) -> Sequence[CodeExecutionLog]:
        """A live, read-only view of the console calls captured so far."""
        return self._run.logs

    @property
    def memory_used_bytes(self) -> int | None:
        """The heap's peak so far; None if the system does not provide it."""
        return self._run.memory_used_bytes

    def terminate(self, reason: str | None = None) -> None:
        """Ends the module, whatever it is doing. Idempotent; may be called from any thread."""
        self._run.terminate(reason)

    def terminate_after(self, seconds: float, reason: str | None = None) -> Self:
        """Ends the module once it has been open for so long. Returns the handle."""
        self._run.terminate_after(seconds, reason)
        return self

    async def __aenter__(self) -> Module:
        if self._entered:
            raise RuntimeError("a module is entered once; call open_code again for another one")
        self._entered = True
        transcript = self._run._transcript
        try:
            while transcript.result is None and transcript.exports is None:
                await self._news()
        except asyncio.CancelledError:
            self.terminate(CANCELLED)
            raise
        if transcript.result is not None:
            raise RunFailed(transcript.result)
        return Module(self, dict(transcript.exports or {}))

    async def _news(self) -> None:
        loop = asyncio.get_running_loop()
        news: asyncio.Future[None] = loop.create_future()
        self._run._transcript.wake_when_open(waker(loop, news))
        await news

    async def __aexit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if kind is None:
            self._run._transcript.finish()
        else:
            self.terminate(CANCELLED if kind is asyncio.CancelledError else "closed")
        await self._run

    async def _call(self, function: GuestFunction, args: Sequence[Any]) -> Any:
        """On the loop of the run, wherever the caller is."""
        loop = self._run._transcript.loop
        try:
            if loop is None or loop is asyncio.get_running_loop():
                return await function(*args)
            return await _elsewhere(loop, function, args)
        except asyncio.CancelledError:
            self.terminate(CANCELLED)
            raise

    def __repr__(self) -> str:
        return f"<OpenCode {'running' if self.running else 'ended'}>"


class Module:
    """The exports of an open module as methods to await: `await module.price(row)`."""

    def __init__(self, opened: OpenCode, exports: dict[str, GuestFunction | None]) -> None:
        self.__opened = opened
        self.__exports = exports

    def __getattr__(self, name: str) -> Export:
        if name.startswith("_"):  # Python and notebooks ask for many, and a guest must not answer
            raise AttributeError(f"exports whose name begins with _ cannot be called: {name!r}")
        function = self.__exports.get(name)
        if function is not None:
            return Export(self.__opened, function)
        if name in self.__exports:
            hint = "export a function that returns it"
            raise AttributeError(f"the export {name!r} is not a function; {hint}")
        raise AttributeError(f"the module has no export {name!r}{_hint(name, self.__exports)}")

    def __dir__(self) -> list[str]:
        return [name for name in self.__exports if not name.startswith("_")]

    def __repr__(self) -> str:
        return f"<open module with {len(self.__exports):,} exports>"


class Export:
    """A function of an open module. The answer is a copy of what it returns."""

    def __init__(self, opened: OpenCode, function: GuestFunction) -> None:
        self._opened = opened
        self._function = function

    async def __call__(self, *args: Any) -> Any:
        """Raises `GuestError` if the function throws, `RunEndedError` if the module has ended."""
        return await self._opened._call(self._function, args)

    def __repr__(self) -> str:
        return f"<export of an open module: {self._function!r}>"


async def _elsewhere(
    loop: asyncio.AbstractEventLoop, function: GuestFunction, args: Sequence[Any]
) -> Any:
    if loop.is_closed():
        raise RunEndedError("the module has ended: its event loop was closed")
    return await asyncio.wrap_future(
        asyncio.run_coroutine_threadsafe(_called(function, args), loop)
    )


async def _called(function: GuestFunction, args: Sequence[Any]) -> Any:
    return await function(*args)


def _hint(name: str, exports: Iterable[str]) -> str:
    """Few and short names only: there may be any number of them, as long as a guest likes."""
    short = (each for each in exports if len(each) <= _LONGEST)
    close = nearest(name[:_LONGEST], islice(short, _CONSIDERED))
    return "" if close is None else f"; did you mean {close!r}?"
