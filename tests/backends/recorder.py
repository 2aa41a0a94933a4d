"""A second, tiny backend: it plays a script in this process and records what it was sent."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Sequence
from functools import partial
from typing import Any

from sandbox_kernel.backend import ActiveCode, Lent, Listener, Outcome
from sandbox_kernel.contract import CodeExecutionError, CodeExecutionLog
from sandbox_kernel.errors import EngineClosedError, RunEndedError
from sandbox_kernel.loops import on_loop
from sandbox_kernel.values import GuestError, GuestFunction, undefined
from sandbox_kernel.wire.order import Order
from tests.backends.script import Step, steps_of


class Recorder:
    """Knows nothing of workers, frames or JavaScript: only the seam."""

    def __init__(self) -> None:
        self.orders: list[Order] = []
        self.closed = False

    def start(
        self, order: Order, lent: Lent, listener: Listener, loop: asyncio.AbstractEventLoop
    ) -> ActiveCode:
        if self.closed:
            raise EngineClosedError("the recorder is closed")
        self.orders.append(order)
        play = Play(order, lent, listener, loop)
        on_loop(loop, play.begin)
        return play


class Play:
    """One script being played on the run's loop."""

    def __init__(
        self, order: Order, lent: Lent, listener: Listener, loop: asyncio.AbstractEventLoop
    ) -> None:
        self._order = order
        self._lent = lent
        self._listener = listener
        self._loop = loop
        self._task: asyncio.Task[Outcome] | None = None
        self._reason: tuple[str | None] | None = None
        self._exports: dict[str, GuestFunction | None] = {}
        self._calls: set[asyncio.Task[Any]] = set()
        self._finished = asyncio.Event()
        self._ended: str | None = None

    def begin(self) -> None:
        self._task = self._loop.create_task(self._play())
        self._task.add_done_callback(self._end)
        if self._reason is not None:
            self._task.cancel()

    def terminate(self, reason: str | None) -> None:
        if self._reason is None:
            self._reason = (reason,)
            self._loop.call_soon_threadsafe(self._cancel)

    def _cancel(self) -> None:
        if self._task is not None:
            self._task.cancel()

    def finish(self) -> None:
        self._loop.call_soon_threadsafe(self._finished.set)

    def memory_used_bytes(self) -> int | None:
        return 4096

    def processor_seconds(self) -> float | None:
        return None

    async def _play(self) -> Outcome:
        self._listener.on_start()
        outcome = Outcome("link_error", error=CodeExecutionError("LinkError", "no default export"))
        for step in steps_of(self._order.source):
            outcome = await self._step(step) or outcome
        if not self._order.stays_open or outcome.status == "error":
            return outcome
        self._listener.on_open(self._exports)
        await self._finished.wait()
        return Outcome("success", undefined, None, 4096)

    def _end(self, task: asyncio.Task[Outcome]) -> None:
        self._ended = "closed" if self._reason is None else self._reason[0] or "terminated"
        for call in self._calls:
            call.cancel()
        if not task.cancelled():
            self._listener.settled(task.result())
            return
        assert self._reason is not None
        message = self._reason[0] or "terminated by the caller"
        error = CodeExecutionError("Terminated", message)
        self._listener.settled(Outcome("terminated", error=error))

    async def _step(self, step: Step) -> Outcome | None:
        match step:
            case ["report", value]:
                self._listener.on_report(value)
                assert self._lent.report is not None
                self._lent.report(value)
            case ["log", text]:
                self._listener.on_log(CodeExecutionLog("log", (text,), 0.0))
            case ["call", name]:
                await self._call(name)
            case ["export", name, does]:
                self._exports[name] = GuestFunction(name, partial(self._be_called, does))
            case ["constant", name]:
                self._exports[name] = None
            case ["loop"]:
                await asyncio.Event().wait()
            case ["throw", message]:
                return Outcome("error", error=CodeExecutionError("Error", message))
            case ["return", value]:
                return Outcome("success", value, None, 4096)
        return None

    def _be_called(self, does: str, args: Sequence[Any]) -> Awaitable[Any]:
        if self._ended is not None or self._reason is not None:
            raise RunEndedError(f"it has ended ({self._ended or self._reason})")
        answer: asyncio.Future[Any] = self._loop.create_future()
        task = self._loop.create_task(self._answer(does, args, answer))
        self._calls.add(task)
        return answer

    async def _answer(self, does: str, args: Sequence[Any], answer: asyncio.Future[Any]) -> None:
        try:
            if does == "hang":
                await asyncio.Event().wait()
            if does == "report":
                await self._step(["report", args[0]])
            value: Any = args[0] * 2 if does == "double" else undefined
        except asyncio.CancelledError:
            if not answer.done():
                answer.set_exception(RunEndedError(f"it has ended ({self._ended})"))
            return
        if does == "throw":
            answer.set_exception(GuestError("RangeError", "no"))
        else:
            answer.set_result(value)

    async def _call(self, name: str) -> Any:
        """Functions are numbered in the order they were lent."""
        bridge = self._lent.bridges.function(self._order.globals.index(name))
        return await bridge.function()
