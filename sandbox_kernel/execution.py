"""`Execution`, the handle of a run, and `CodeExecution`, which `run_code` returns.

Whoever awaits a run and is cancelled terminates it, and so does the last holder of its handle that
lets go of it. A handle only reads a `Transcript`, which the backend writes while the run goes on.
"""

from __future__ import annotations

import asyncio
import threading
import weakref
from collections.abc import AsyncIterator, Callable, Coroutine, Generator, Sequence
from functools import partial
from math import isnan
from time import perf_counter
from typing import Any, Generic, Self, TypeVar, overload

from .backend import CANCELLED, Backend, Lent
from .brief import Holder, Parts
from .calls import Call
from .contract import CodeExecutionLog, CodeExecutionResult
from .options import DEFAULT_FILENAME
from .transcript import CodeTranscript, Transcript, Waker, waker
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


class Execution(Coroutine[Any, Any, Result], Generic[Result]):
    """The handle of one run: await it, `wait()` for it, `stream()` it or `terminate()` it.

    It is a coroutine too, so that `TaskGroup.create_task(run)` takes it; `send`, `throw` and `close`
    are for the task that drives it.
    """

    def __init__(self, transcript: Transcript[Result]) -> None:
        self._transcript = transcript
        transcript.handle = weakref.ref(self)
        self._driven: dict[Any, Generator[Any, None, Result]] = {}  # by the task that drives it

    def __del__(self) -> None:
        if self._transcript.result is None:
            self._transcript.give_up_soon()

    @property
    def running(self) -> bool:
        """True until the run has settled."""
        return self._transcript.result is None

    @property
    def started(self) -> bool:
        """True once execution has begun; until then the run waits in the queue."""
        return self._transcript.started_at is not None

    def terminate(self, reason: str | None = None) -> None:
        """Stops the run, whatever it is doing. Idempotent; may be called from any thread."""
        _check_reason(reason)
        self._transcript.terminate(reason)

    def terminate_after(self, seconds: float, reason: str | None = None) -> Self:
        """Terminates the run once it has executed for so long; the wait in the queue is not counted.

        A second call replaces the first. Returns the handle: `await run_code(source).terminate_after(2)`.
        """
        _check_seconds(seconds)
        _check_reason(reason)
        stop = partial(self._transcript.terminate, reason or f"{seconds:g}s budget")
        self._transcript.after(seconds, stop)
        return self

    def wait(self, timeout: float | None = None) -> Result:
        """The result, for code without an event loop. After a TimeoutError the run continues."""
        if timeout is not None:
            _check_number("timeout", timeout)
        try:
            asyncio.get_running_loop()
        except RuntimeError:
            pass
        else:
            raise RuntimeError("wait() would block the running event loop; await the run instead")
        settled = threading.Event()
        try:
            self._transcript.wake_at_end(settled.set)
            in_time = settled.wait(timeout)
        except BaseException:  # such as KeyboardInterrupt
            self._cancelled(settled.set)
            raise
        if not in_time:
            self._transcript.wait_no_longer(settled.set)
            raise TimeoutError(f"the run did not settle within {timeout} s")
        return self._result()

    def __await__(self) -> Generator[Any, None, Result]:
        if self._transcript.result is None:
            loop = asyncio.get_running_loop()
            future: asyncio.Future[None] = loop.create_future()
            wake = waker(loop, future)
            self._transcript.wake_at_end(wake)
            try:
                yield from future
            except asyncio.CancelledError:
                self._cancelled(wake)
                raise
            except GeneratorExit:  # closed, perhaps by the garbage collector
                if self._transcript.wait_no_longer(wake):
                    self._transcript.give_up_soon()
                raise
        return self._result()

    async def stream(self) -> AsyncIterator[Any]:
        """Yields every item from the first on, as it arrives; ends when the run has settled."""
        transcript, yielded = self._transcript, 0

        def waits() -> None:
            """Stands for this iteration among those who wait for the run."""

        transcript.wake_at_end(waits)
        try:
            while True:
                while yielded < len(transcript.items):
                    yield transcript.items[yielded]
                    yielded += 1
                if transcript.result is not None:
                    return
                loop = asyncio.get_running_loop()
                future: asyncio.Future[None] = loop.create_future()
                transcript.wake_after(yielded, waker(loop, future))
                await future
        except asyncio.CancelledError:
            self._cancelled(waits)
            raise
        finally:
            transcript.wait_no_longer(waits)

    # -- as a coroutine: each task that drives it awaits it for itself

    def send(self, value: Any) -> Any:
        """The next step of the current task's own await."""
        task = _current_task()
        steps = self._driven.get(task)
        if steps is None:
            steps = self._driven[task] = self.__await__()
        return self._step(task, steps.send, value)

    def throw(self, *error: Any) -> Any:
        """Raises in the current task's await; a CancelledError terminates a run that nobody awaits."""
        task = _current_task()
        steps = self._driven.get(task)
        if steps is None:  # cancelled before its first step
            self._cancelled(_nothing)
            return self._step(task, self.__await__().throw, *error)
        return self._step(task, steps.throw, *error)

    def close(self) -> None:
        """Ends the current task's await, and with it a run that nobody else awaits."""
        steps = self._driven.pop(_current_task(), None)
        if steps is not None:
            steps.close()
        else:
            self._cancelled(_nothing)

    def _step(self, task: Any, advance: Callable[..., Any], *given: Any) -> Any:
        try:
            return advance(*given)
        except BaseException:  # also StopIteration, which has the result
            self._driven.pop(task, None)
            raise

    def _cancelled(self, wake: Waker) -> None:
        if self._transcript.wait_no_longer(wake):
            self._transcript.terminate(CANCELLED)

    def _result(self) -> Result:
        result = self._transcript.result
        assert result is not None
        return result


class CodeExecution(Execution[CodeExecutionResult]):
    """The handle that `run_code` returns; `stream()` yields the run's reports."""

    _transcript: CodeTranscript

    @property
    def filename(self) -> str:
        """The module's name in errors and stacks."""
        return self._transcript.filename

    @property
    def reports(self) -> Sequence[Any]:
        """A live, read-only view of the values reported so far."""
        return LiveView(self._transcript.items)

    @property
    def logs(self) -> Sequence[CodeExecutionLog]:
        """A live, read-only view of the console calls captured so far."""
        return LiveView(self._transcript.logs)

    @property
    def calls(self) -> Sequence[Call]:
        """A live, read-only view of the calls of lent functions so far."""
        return LiveView(self._transcript.calls.kept)

    @property
    def duration_ms(self) -> float:
        """Milliseconds since it was asked for, until now or until its end."""
        result = self._transcript.result
        if result is not None:
            return result.duration_ms
        return (perf_counter() - self._transcript.asked_at) * 1000

    @property
    def memory_used_bytes(self) -> int | None:
        """The heap's peak so far; None if the system does not provide it."""
        result, active = self._transcript.result, self._transcript.active
        if result is not None:
            return result.memory_used_bytes
        return active.memory_used_bytes() if active is not None else None

    def __repr__(self) -> str:
        result = self._transcript.result
        going = "running" if self.started else "queued"
        state = going if result is None else result.status
        name = "" if self.filename == DEFAULT_FILENAME else f"{self.filename} "
        return f"<CodeExecution {name}{state}, {len(self._transcript.items)} reports>"


def start_code(
    backend: Backend,
    order: Order,
    lent: Lent,
    log_sink: Callable[[CodeExecutionLog], None] | None = None,
) -> CodeExecution:
    """Starts the order on the backend, and returns the handle of the run."""
    transcript = CodeTranscript(order, lent, log_sink)
    try:
        transcript.begin(partial(backend.start, order, lent, transcript))
    except BaseException:
        lent.bridges.close()
        lent.close()
        raise
    return CodeExecution(transcript)


def call_after(run: CodeExecution, seconds: float, call: Callable[[], object]) -> None:
    """`terminate_after` for those who do more than terminate: makes the call instead, on any thread."""
    run._transcript.after(seconds, call)


def note_asking(run: CodeExecution, asking: bool) -> None:
    """For those who ask people on a run's behalf: whether they do so now, which takes none of its time."""
    run._transcript.on_asking(asking)


def processor_seconds(run: CodeExecution) -> float | None:
    """What it has computed so far; None if that is not known, or if it has ended."""
    active = run._transcript.active
    return None if active is None else active.processor_seconds()


def _check_reason(reason: object) -> None:
    if reason is not None and not isinstance(reason, str):
        raise TypeError(f"reason must be a string, not {type(reason).__name__}")


def _check_number(name: str, value: object) -> None:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise TypeError(f"{name} must be a number, not {type(value).__name__}")


def _check_seconds(seconds: float) -> None:
    _check_number("seconds", seconds)
    if isnan(seconds) or seconds < 0:
        raise ValueError(f"seconds must not be negative, but is {seconds}")


def _current_task() -> asyncio.Task[Any] | None:
    try:
        return asyncio.current_task()
    except RuntimeError:
        return None  # no loop runs here


def _nothing() -> None:
    """Wakes nobody."""
