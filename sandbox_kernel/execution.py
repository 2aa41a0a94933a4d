"""`Execution`, the handle of a run, and `CodeExecution`, which `run_code` returns.

A handle only reads a `Transcript`, which the backend writes while the run is in progress.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator, Callable, Generator, Sequence
from time import perf_counter
from typing import Any, Generic, TypeVar, overload

from . import loops
from .backend import ActiveRun, Backend, Lent, Outcome
from .brief import Holder, Parts
from .contract import CodeExecutionLog, CodeExecutionResult
from .wire.order import Order

Result = TypeVar("Result")


class LiveView(Holder, Sequence[Any]):
    """A read-only view of a list that grows while the run goes on."""

    __slots__ = ("_items",)

    def __init__(self, items: list[Any]) -> None:
        self._items = items

    @overload
    def __getitem__(self, index: int) -> Any: ...
    @overload
    def __getitem__(self, index: slice) -> list[Any]: ...
    def __getitem__(self, index: int | slice) -> Any:
        return self._items[index]

    def __len__(self) -> int:
        return len(self._items)

    def __eq__(self, other: object) -> bool:
        if isinstance(other, Sequence):
            return self._items == list(other)
        return NotImplemented

    __hash__ = None  # type: ignore[assignment]  # it changes

    def brief_parts(self) -> Parts:
        return Parts("[", self._items, len(self._items), "]")


class Transcript(Generic[Result]):
    """A run's output so far, and its result. Written on the run's loop, read from any thread."""

    def __init__(self) -> None:
        self.began = perf_counter()
        self.items: list[Any] = []  # what `stream()` yields
        self.result: Result | None = None
        self.active: ActiveRun | None = None
        self._thread: loops.LoopThread | None = None
        self._lock = threading.Lock()
        self._item_wakers: list[
            Callable[[], None]
        ] = []  # each is called once: at the next item or at the end
        self._end_wakers: list[Callable[[], None]] = []

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
                self.active = active

    def add(self, item: Any) -> None:
        self.items.append(item)
        if self._item_wakers:
            with self._lock:
                wakers, self._item_wakers = self._item_wakers, []
            _call_all(wakers)

    def end(self, result: Result) -> None:
        with self._lock:
            self.result = result
            self.active = None  # so that nothing of a finished run waits for garbage collection
            wakers = [*self._item_wakers, *self._end_wakers]
            self._item_wakers, self._end_wakers = [], []
        _call_all(wakers)
        self._give_back_thread()

    def wake_at_end(self, wake: Callable[[], None]) -> None:
        with self._lock:
            if self.result is None:
                self._end_wakers.append(wake)
                return
        wake()

    def wake_after(self, count: int, wake: Callable[[], None]) -> None:
        """Calls `wake` once there are more than `count` items, or at the end."""
        with self._lock:
            if self.result is None and len(self.items) <= count:
                self._item_wakers.append(wake)
                return
        wake()

    def _give_back_thread(self) -> None:
        thread, self._thread = self._thread, None
        if thread is not None:
            loops.give_back(thread)


class Execution(Generic[Result]):
    """The handle of one run: await it, `wait()` for it, `stream()` it or `terminate()` it."""

    def __init__(self, transcript: Transcript[Result]) -> None:
        self._transcript = transcript

    @property
    def running(self) -> bool:
        """True until the run has settled."""
        return self._transcript.result is None

    def terminate(self, reason: str | None = None) -> None:
        """Stops the run, whatever it is doing. Idempotent; may be called from any thread."""
        if reason is not None and not isinstance(reason, str):
            raise TypeError(f"reason must be a string, not {type(reason).__name__}")
        active = self._transcript.active
        if active is not None:
            active.terminate(reason)

    def wait(self, timeout: float | None = None) -> Result:
        """The result, for code without an event loop. After a TimeoutError the run continues."""
        try:
            asyncio.get_running_loop()
        except RuntimeError:
            pass
        else:
            raise RuntimeError("wait() would block the running event loop; await the run instead")
        settled = threading.Event()
        self._transcript.wake_at_end(settled.set)
        if not settled.wait(timeout):
            raise TimeoutError(f"the run did not settle within {timeout} s")
        return self._result()

    def __await__(self) -> Generator[Any, None, Result]:
        if self._transcript.result is None:
            loop = asyncio.get_running_loop()
            future: asyncio.Future[None] = loop.create_future()
            self._transcript.wake_at_end(_waker(loop, future))
            yield from future
        return self._result()

    async def stream(self) -> AsyncIterator[Any]:
        """Yields every item from the first on, as it arrives; ends when the run has settled."""
        transcript, yielded = self._transcript, 0
        while True:
            while yielded < len(transcript.items):
                yield transcript.items[yielded]
                yielded += 1
            if transcript.result is not None:
                return
            loop = asyncio.get_running_loop()
            future: asyncio.Future[None] = loop.create_future()
            transcript.wake_after(yielded, _waker(loop, future))
            await future

    def _result(self) -> Result:
        result = self._transcript.result
        assert result is not None
        return result


class CodeExecution(Execution[CodeExecutionResult]):
    """The handle that `run_code` returns; `stream()` yields the run's reports."""

    _transcript: CodeTranscript

    @property
    def reports(self) -> Sequence[Any]:
        """A live, read-only view of the values reported so far."""
        return LiveView(self._transcript.items)

    @property
    def logs(self) -> Sequence[CodeExecutionLog]:
        """A live, read-only view of the console calls captured so far."""
        return LiveView(self._transcript.logs)

    @property
    def memory_used_bytes(self) -> int | None:
        """The heap's peak so far; None if the system does not provide it."""
        result, active = self._transcript.result, self._transcript.active
        if result is not None:
            return result.memory_used_bytes
        return active.memory_used_bytes() if active is not None else None

    def __repr__(self) -> str:
        result = self._transcript.result
        state = "running" if result is None else result.status
        return f"<CodeExecution {state}, {len(self._transcript.items)} reports>"


class CodeTranscript(Transcript[CodeExecutionResult]):
    """Listens to a run started by `run_code`."""

    def __init__(self, log_sink: Callable[[CodeExecutionLog], None] | None = None) -> None:
        super().__init__()
        self.logs: list[CodeExecutionLog] = []
        self._log_sink = log_sink

    on_report = Transcript.add

    def on_log(self, log: CodeExecutionLog) -> None:
        self.logs.append(log)
        if self._log_sink is not None:
            self._log_sink(log)

    def settled(self, outcome: Outcome) -> None:
        self.end(
            CodeExecutionResult(
                status=outcome.status,
                result=outcome.result,
                reports=list(self.items),
                logs=list(self.logs),
                error=outcome.error,
                duration_ms=(perf_counter() - self.began) * 1000,
                memory_used_bytes=outcome.memory_used_bytes,
            )
        )


def start_code(
    backend: Backend,
    order: Order,
    lent: Lent,
    log_sink: Callable[[CodeExecutionLog], None] | None = None,
) -> CodeExecution:
    """Starts the order on the backend, and returns the handle of the run."""
    transcript = CodeTranscript(log_sink)
    transcript.begin(lambda loop: backend.start(order, lent, transcript, loop))
    return CodeExecution(transcript)


def _call_all(wakers: list[Callable[[], None]]) -> None:
    for wake in wakers:
        wake()


def _waker(loop: asyncio.AbstractEventLoop, future: asyncio.Future[None]) -> Callable[[], None]:
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
