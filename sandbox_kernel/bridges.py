"""Host functions and awaitables lent to one run. The guest refers to them by number only."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Awaitable, Callable
from typing import Any, TypeVar

from .errors import ProtocolError
from .wire.messages import ASYNC, ONE_WAY, SYNC

_Function = TypeVar("_Function", bound=Callable[..., Any])

# Lent awaitables share a map with the guest's own calls, whose numbers count up from 1.
_FIRST_AWAITABLE = 1 << 30


def one_way(function: _Function) -> _Function:
    """Marks a bridge as fire-and-forget: the guest gets `undefined` at once and continues."""
    function.__sandbox_one_way__ = True  # type: ignore[attr-defined]  # our own marker
    return function


def mode_of(function: Callable[..., Any]) -> int:
    """How the guest calls it: SYNC waits for the value, ASYNC gets a promise, ONE_WAY nothing."""
    if getattr(function, "__sandbox_one_way__", False):
        return ONE_WAY
    plain: Any = function
    while isinstance(plain, functools.partial):
        plain = plain.func
    if inspect.iscoroutinefunction(plain):
        return ASYNC
    call = getattr(type(plain), "__call__", None)  # noqa: B004  # we inspect the method itself
    return ASYNC if inspect.iscoroutinefunction(call) else SYNC


class Bridges:
    """The functions and awaitables lent to one run, in the order in which they were lent."""

    def __init__(self) -> None:
        self._functions: list[tuple[Callable[..., Any], int]] = []
        self._numbers: dict[int, int] = {}
        self._awaitables: list[Awaitable[Any]] = []
        self._taken = 0

    def lend_function(self, function: Callable[..., Any]) -> tuple[int, int, str]:
        mode = mode_of(function)
        number = self._numbers.get(id(function))
        if number is None:
            number = self._numbers[id(function)] = len(self._functions)
            self._functions.append((function, mode))
        name = getattr(function, "__name__", "") or ""
        return number, mode, name if isinstance(name, str) and name != "<lambda>" else ""

    def lend_awaitable(self, awaitable: Awaitable[Any]) -> int:
        self._awaitables.append(awaitable)
        return _FIRST_AWAITABLE + len(self._awaitables) - 1

    def function(self, number: int) -> tuple[Callable[..., Any], int]:
        if not 0 <= number < len(self._functions):
            raise ProtocolError(f"the guest called bridge {number}, which was never lent")
        return self._functions[number]

    def take_awaitables(self) -> list[tuple[int, Awaitable[Any]]]:
        """The awaitables lent since the last call, with their numbers."""
        if self._taken == len(self._awaitables):
            return []
        first, self._taken = self._taken, len(self._awaitables)
        return [
            (_FIRST_AWAITABLE + number, self._awaitables[number])
            for number in range(first, self._taken)
        ]

    def close(self) -> None:
        """Closes coroutines that will never be awaited; Python would warn about them."""
        for awaitable in self._awaitables[self._taken :]:
            if inspect.iscoroutine(awaitable):
                awaitable.close()
