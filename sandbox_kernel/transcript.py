"""`Transcript`: what a run has said so far, when it began, who waits for it, and how it ended.

The backend writes it, handles read it.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Mapping
from dataclasses import replace
from itertools import chain
from time import perf_counter
from typing import Any, Generic, TypeVar

from . import loops
from .backend import CANCELLED, ActiveCode, ActiveRun, Lent, Outcome
from .clock import Countdown
from .contract import CodeExecutionError, CodeExecutionLog, CodeExecutionResult
from .explain.scene import Scene
from .loans import Display
from .values import GuestFunction
from .wire.order import Order

Result = TypeVar("Result")
Waker = Callable[[], None]


class Transcript(Generic[Result]):
    """Written on the run's loop, read from any thread."""

    def __init__(self) -> None:
        self.asked_at = perf_counter()
        self.started_at: float | None = None  # when execution began
        self.items: list[Any] = []  # what `stream()` yields
        self.result: Result | None = None
        self.active: ActiveRun | None = None
        self.handle: Callable[[], Any] = _nobody  # a weak reference, once there is a handle
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: loops.LoopThread | None = None
        self._lock = threading.Lock()
        self._countdown: Countdown | None = None  # once somebody wants one
        self._item_wakers: list[Waker] = []  # each is called once: at the next item or at the end
        self._end_wakers: list[Waker] = []  # one for each that waits

    def begin(self, start: Callable[[asyncio.AbstractEventLoop], ActiveRun]) -> None:
        """Starts on the caller's loop, or on that of a borrowed thread if the caller has none."""
        try:
            loop = asyncio.get_running_loop()
        except RuntimeError:
            self._thread = loops.borrow()
            loop = self._thread.loop
        try:
            active = start(loop)
        except BaseException:
            self._give_back_thread()
            raise
        with self._lock:
            if self.result is None:
                self.active, self._loop = active, loop

    # -- what the backend tells

    def on_start(self) -> None:
        with self._lock:
            self.started_at = perf_counter()
            if self._countdown is not None:
                self._countdown.start(self.started_at)

    def on_asking(self, asking: bool) -> None:
        """A person is asked about a call, or all questions are answered. Asking takes no time of the
        run's but what it computes meanwhile."""
        active = self.active
        with self._lock:
            countdown = self._counting()
        if not asking:
            countdown.resume()
        elif active is not None:
            countdown.pause(active.processor_seconds)

    def _counting(self) -> Countdown:
        """The lock is held."""
        if self._countdown is None:
            self._countdown = Countdown()
            if self.started_at is not None:
                self._countdown.start(self.started_at)
        return self._countdown

    def add(self, item: Any) -> None:
        self.items.append(item)
        if self._item_wakers:
            self._wake_for_news()

    def _wake_for_news(self) -> None:
        with self._lock:
            wakers, self._item_wakers = self._item_wakers, []
        for wake in wakers:
            wake()

    def end(self, result: Result) -> None:
        with self._lock:
            self.result = result
            self.active = self._loop = None  # nothing of a finished run waits for the collector
            if self._countdown is not None:
                self._countdown.cancel()
            wakers = [*self._item_wakers, *self._end_wakers]
            self._item_wakers, self._end_wakers = [], []
        for wake in wakers:
            wake()
        if self._thread is not None:
            self._give_back_thread()

    # -- who waits

    def wake_at_end(self, wake: Waker) -> None:
        """Whoever is to be woken waits for the run, which then is not given up."""
        with self._lock:
            if self.result is None:
                self._end_wakers.append(wake)
                return
        wake()

    def wake_after(self, count: int, wake: Waker) -> None:
        """Calls `wake` once there are more than `count` items, or at the end."""
        with self._lock:
            if self.result is None and len(self.items) <= count:
                self._item_wakers.append(wake)
                return
        wake()

    def wait_no_longer(self, wake: Waker) -> bool:
        """Whether nobody waits now for a run that goes on. Takes no lock: finalizers call it."""
        try:
            self._end_wakers.remove(wake)
        except ValueError:
            pass  # it has ended, and everybody was woken
        return self.result is None and not self._end_wakers

    @property
    def loop(self) -> asyncio.AbstractEventLoop | None:
        """Where the run is talked to; None once it has ended."""
        return self._loop

    def terminate(self, reason: str | None) -> None:
        active = self.active
        if active is not None:
            active.terminate(reason)

    def give_up_soon(self) -> None:
        """For finalizers, which interrupt any code on any thread: so it takes no lock."""
        active, loop = self.active, self._loop
        if active is None or loop is None:
            return
        try:
            loop.call_soon_threadsafe(active.terminate, CANCELLED)
        except RuntimeError:
            pass  # the loop is closed, and backends end the runs of closed loops

    def after(self, seconds: float, call: Callable[[], object]) -> None:
        """Makes the call once the run has executed for so long. Replaces an earlier one."""
        with self._lock:
            if self.result is None:
                self._counting().set(seconds, call)

    def _give_back_thread(self) -> None:
        thread, self._thread = self._thread, None
        if thread is not None:
            loops.give_back(thread)


class CodeTranscript(Transcript[CodeExecutionResult]):
    """Listens to a run started by `run_code`."""

    active: ActiveCode | None

    def __init__(
        self,
        order: Order,
        lent: Lent,
        log_sink: Callable[[CodeExecutionLog], None] | None = None,
    ) -> None:
        super().__init__()
        self.filename = order.filename
        # What the run is given, without the values: enough for its error to explain itself.
        self._given = order.source, order.modules, order.imports
        self._globals, self._shims = order.globals, order.shims
        self.calls = lent.calls
        self._loans = lent.loans
        self._return_loans = lent.close
        self.logs: list[CodeExecutionLog] = []
        self.exports: Mapping[str, GuestFunction | None] | None = None  # of a module that is open
        self._log_sink = log_sink

    on_report = Transcript.add

    def on_open(self, exports: Mapping[str, GuestFunction | None]) -> None:
        self.exports = exports
        self._wake_for_news()

    def wake_when_open(self, wake: Waker) -> None:
        """Calls `wake` once the module is open, or at the end; or too early, at the next item."""
        with self._lock:
            if self.result is None and self.exports is None:
                self._item_wakers.append(wake)
                return
        wake()

    def finish(self) -> None:
        """Nobody will call the open module any more."""
        active = self.active
        if active is not None:
            active.finish()

    def on_log(self, log: CodeExecutionLog) -> None:
        self.logs.append(log)
        if self._log_sink is not None:
            self._log_sink(log)

    def settled(self, outcome: Outcome) -> None:
        now = perf_counter()
        started = now if self.started_at is None else self.started_at
        self.end(
            CodeExecutionResult(
                status=outcome.status,
                result=outcome.result,
                reports=list(self.items),
                logs=list(self.logs),
                error=None if outcome.error is None else self._explained(outcome, outcome.error),
                duration_ms=(now - self.asked_at) * 1000,
                queued_ms=(started - self.asked_at) * 1000,
                memory_used_bytes=outcome.memory_used_bytes,
                displays=self._returned() if self._loans else [],
                bridge_errors=outcome.bridge_errors,
                calls=self.calls.to_json() if self.calls.kept else [],
            )
        )

    def _returned(self) -> list[Display]:
        """Gives back what was lent of capabilities; what they showed."""
        self._return_loans()
        return list(chain.from_iterable(loan.displays for loan in self._loans))

    def _explained(self, outcome: Outcome, error: CodeExecutionError) -> CodeExecutionError:
        """The error, with what it needs to explain itself."""
        free = [*self._globals, *chain.from_iterable(shim.free for shim in self._shims)]
        scene = Scene(self.filename, *self._given, free, status=outcome.status)
        if error.scene is not None:
            scene = scene._replace(facts=error.scene.facts)
        return replace(error, scene=scene)


def waker(loop: asyncio.AbstractEventLoop, future: asyncio.Future[None]) -> Waker:
    """Resolves a future from any thread. Its loop may have been closed meanwhile."""

    def resolve() -> None:
        if not future.done():
            future.set_result(None)

    def wake() -> None:
        try:
            loops.on_loop(loop, resolve)
        except RuntimeError:
            pass  # the loop is closed

    return wake


def _nobody() -> None:
    return None
