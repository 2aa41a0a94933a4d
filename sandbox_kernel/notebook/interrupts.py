"""Interrupts Python code of the notebook's author that blocks the main thread.

A run is terminated from the control thread, whatever it does. But a bridge that blocks (a long
`time.sleep`) keeps the loop from noticing, so the interrupt must reach into it, as Ctrl-C would.
Only there: a KeyboardInterrupt in the loop's own code would end the kernel.
"""

from __future__ import annotations

import inspect
import signal
import threading
import types
from collections.abc import Awaitable, Callable, Generator, Iterator, Mapping
from contextlib import contextmanager
from functools import wraps
from typing import Any, TypeVar

T = TypeVar("T")


class Interrupted(Exception):
    """The author's Python code was interrupted, or tried to exit."""


class Guard:
    """Knows when the author's code runs on the main thread, and interrupts it only then."""

    def __init__(self, on_signal: Callable[[], None]) -> None:
        self._inside = False
        self._on_signal = on_signal

    def install(self) -> None:
        """Handles SIGINT from now on: some front ends send the signal instead of a message."""
        signal.signal(signal.SIGINT, self._handle)

    @contextmanager
    def installed(self) -> Iterator[None]:
        """Handles SIGINT inside the block only; on other threads than the main one, does nothing."""
        if threading.current_thread() is not threading.main_thread():
            yield
            return
        before = signal.getsignal(signal.SIGINT)
        self.install()
        try:
            yield
        finally:
            signal.signal(signal.SIGINT, before)

    def break_in(self) -> None:
        """Callable from any thread: interrupts the author's code, if it is running."""
        main = threading.main_thread().ident
        if self._inside and main is not None:
            signal.pthread_kill(main, signal.SIGINT)

    def _handle(self, _number: int, _frame: types.FrameType | None) -> None:
        self._on_signal()
        if self._inside:
            self._inside = False  # so that it is raised once
            raise KeyboardInterrupt

    def call(self, function: Callable[..., T], *args: Any) -> T:
        """Calls the author's code; an interrupt is raised as `Interrupted`."""
        if threading.current_thread() is not threading.main_thread():
            return function(*args)
        # Python runs signal handlers on this thread, between bytecodes. Once the mark is cleared,
        # no KeyboardInterrupt is raised; until then, it is raised inside this try.
        try:
            return self._marked(function, args)
        except KeyboardInterrupt as interrupt:
            raise Interrupted("interrupted").with_traceback(interrupt.__traceback__) from None
        except SystemExit as leaving:
            message = "a bridge raised SystemExit, but it cannot end this process"
            raise Interrupted(message).with_traceback(leaving.__traceback__) from None

    def _marked(self, function: Callable[..., T], args: tuple[Any, ...]) -> T:
        before = self._inside
        try:
            self._inside = True
            return function(*args)
        finally:
            self._inside = before

    async def drive(self, awaitable: Awaitable[T]) -> T:
        """Awaits the author's code, and guards each of its steps."""
        return await _Guarded(self, awaitable)


class _Guarded(Awaitable[T]):
    def __init__(self, guard: Guard, awaitable: Awaitable[T]) -> None:
        self._guard = guard
        self._awaitable = awaitable

    def __await__(self) -> Generator[Any, Any, T]:
        steps: Any = self._awaitable.__await__()
        value: Any = None
        error: BaseException | None = None
        while True:
            try:
                if error is not None:
                    waiting = self._guard.call(steps.throw, error)
                else:
                    waiting = self._guard.call(_advance, steps, value)
            except StopIteration as end:
                return end.value  # type: ignore[no-any-return]  # of the coroutine, whatever it is
            value, error = None, None
            try:
                value = yield waiting
            except BaseException as thrown:
                error = thrown


def _advance(steps: Any, value: Any) -> Any:
    """Sends only if there is a value: a plain iterator has no `send`."""
    return next(steps) if value is None else steps.send(value)


def bind(
    exports: Mapping[str, Any], around: Callable[[Callable[..., Any]], Callable[..., Any]]
) -> dict[str, Any]:
    """The exports for one run, with each function wrapped."""
    return {
        name: around(value) if callable(value) and not isinstance(value, type) else value
        for name, value in exports.items()
    }


def guarded(
    function: Callable[..., Any], guard: Guard, enter: Callable[[], object]
) -> Callable[..., Any]:
    """The function as a run calls it: output goes to its cell, and an interrupt reaches into it."""
    if inspect.iscoroutinefunction(function):

        @wraps(function)
        async def later(*args: Any) -> Any:
            enter()
            return await guard.drive(function(*args))

        return later

    @wraps(function)
    def now(*args: Any) -> Any:
        enter()
        value = guard.call(function, *args)
        return guard.drive(value) if isinstance(value, Awaitable) else value

    return now
