"""`CodeExecution`, the handle people hold."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator, Callable, Generator, Sequence
from time import perf_counter
from typing import Any, overload

from . import loops
from .contract import CodeExecutionLog, CodeExecutionResult
from .engine.job import ActiveRun, Backend, Job, Outcome


class LiveView(Sequence[Any]):
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

    def __repr__(self) -> str:
        return repr(self._items)


class CodeExecution:
    """One run: await it, `wait()` for it, watch `reports`, `terminate()` it."""

    def __init__(
        self,
        job: Job,
        backend: Backend,
        on_log: Callable[[CodeExecutionLog], None] | None = None,
    ) -> None:
        self._began = perf_counter()
        self._reports: list[Any] = []
        self._logs: list[CodeExecutionLog] = []
        self._on_log = on_log
        self._result: CodeExecutionResult | None = None
        self._lock = threading.Lock()
        self._report_wakers: list[Callable[[], None]] = []  # and at the end; once each
        self._settled_wakers: list[Callable[[], None]] = []
        self._active: ActiveRun | None = None
        self._reason: tuple[str | None] | None = None
        self._thread: loops.LoopThread | None = None
        try:
            loop = asyncio.get_running_loop()
        except RuntimeError:
            self._thread = loops.borrow()
            loop = self._thread.loop
        try:
            active = backend.start(job, self, loop)
            with self._lock:
                if self._result is None:
                    self._active = active
        except BaseException:
            self._give_back_thread()
            raise

    # -- what people call

    @property
    def running(self) -> bool:
        """True until the run has settled."""
        return self._result is None

    @property
    def reports(self) -> Sequence[Any]:
        """A live, read-only view of the values reported so far."""
        return LiveView(self._reports)

    @property
    def logs(self) -> Sequence[CodeExecutionLog]:
        """A live, read-only view of the console calls captured so far."""
        return LiveView(self._logs)

    @property
    def memory_used_bytes(self) -> int | None:
        """The heap's peak so far; None when the system does not tell."""
        if self._result is not None:
            return self._result.memory_used_bytes
        active = self._active
        return active.memory_used_bytes() if active is not None else None

    def terminate(self, reason: str | None = None) -> None:
        """Stops the run, whatever it is doing. Idempotent; may be called from any thread."""
        if reason is not None and not isinstance(reason, str):
            raise TypeError(f"reason must be a string, not {type(reason).__name__}")
        active = self._active
        if active is not None:
            active.terminate(reason)

    def wait(self, timeout: float | None = None) -> CodeExecutionResult:
        """The result, for code without an event loop. Raises TimeoutError and leaves the run be."""
        try:
            asyncio.get_running_loop()
        except RuntimeError:
            pass
        else:
            raise RuntimeError("wait() would block the running event loop: await the run instead")
        settled = threading.Event()
        self._wake_when_settled(settled.set)
        if not settled.wait(timeout):
            raise TimeoutError(f"the run has not settled within {timeout} s")
        assert self._result is not None
        return self._result

    def __await__(self) -> Generator[Any, None, CodeExecutionResult]:
        if self._result is None:
            loop = asyncio.get_running_loop()
            future: asyncio.Future[None] = loop.create_future()
            self._wake_when_settled(_waker(loop, future))
            yield from future
        assert self._result is not None
        return self._result

    async def stream(self) -> AsyncIterator[Any]:
        """The reports from the first on, each as it comes; ends when the run has settled."""
        given = 0
        while True:
            while given < len(self._reports):
                yield self._reports[given]
                given += 1
            if self._result is not None:
                return
            loop = asyncio.get_running_loop()
            future: asyncio.Future[None] = loop.create_future()
            with self._lock:
                self._report_wakers.append(_waker(loop, future))
            if given == len(self._reports) and self._result is None:  # still, now that it is heard
                await future

    def __repr__(self) -> str:
        state = "running" if self._result is None else self._result.status
        return f"<CodeExecution {state}, {len(self._reports)} reports>"

    # -- what the engine tells

    def on_report(self, value: Any) -> None:
        self._reports.append(value)
        if self._report_wakers:
            with self._lock:
                wakers, self._report_wakers = self._report_wakers, []
            for wake in wakers:
                wake()

    def on_log(self, log: CodeExecutionLog) -> None:
        self._logs.append(log)
        if self._on_log is not None:
            self._on_log(log)

    def settled(self, outcome: Outcome) -> None:
        result = CodeExecutionResult(
            status=outcome.status,
            result=outcome.result,
            reports=list(self._reports),
            logs=list(self._logs),
            error=outcome.error,
            duration_ms=(perf_counter() - self._began) * 1000,
            memory_used_bytes=outcome.memory_used_bytes,
        )
        with self._lock:
            self._result = result
            self._active = None  # nothing of a run that is over is to wait for garbage collection
            wakers = [*self._report_wakers, *self._settled_wakers]
            self._report_wakers, self._settled_wakers = [], []
        for wake in wakers:
            wake()
        self._give_back_thread()

    def _give_back_thread(self) -> None:
        thread, self._thread = self._thread, None
        if thread is not None:
            loops.give_back(thread)

    def _wake_when_settled(self, wake: Callable[[], None]) -> None:
        with self._lock:
            if self._result is None:
                self._settled_wakers.append(wake)
                return
        wake()


def _waker(loop: asyncio.AbstractEventLoop, future: asyncio.Future[None]) -> Callable[[], None]:
    """Resolves a future of another loop, perhaps of another thread, perhaps of one that is gone."""

    def resolve() -> None:
        if not future.done():
            future.set_result(None)

    def wake() -> None:
        try:
            loops.on_loop(loop, resolve)
        except RuntimeError:
            pass  # it is closed

    return wake
