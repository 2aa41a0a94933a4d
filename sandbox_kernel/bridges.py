"""Host functions and awaitables lent to one run. The guest refers to them by number only."""

from __future__ import annotations

import functools
import inspect
import re
from collections.abc import Awaitable, Callable, Iterable
from typing import Any, NamedTuple, TypeVar

from .calls import Marks
from .errors import ProtocolError, SerializationError
from .wire.messages import ASYNC, ONE_WAY, SYNC

_Function = TypeVar("_Function", bound=Callable[..., Any])

# Lent awaitables share a map with the guest's own calls, whose numbers count up from 1.
_FIRST_AWAITABLE = 1 << 30
MOST_FUNCTIONS = 1 << 16  # that one run can be lent at once
_INDEX = re.compile(r"\[\d+\]")


class Bridge(NamedTuple):
    """A function that one run was lent. Rules and records go by its name; the guest does not."""

    function: Callable[..., Any]
    mode: int
    name: str
    marks: Marks
    also: tuple[str, ...] = ()  # its other names


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
    """The functions and awaitables lent to one run; each has a number, which is never used again.

    What answers lend is let go of when the guest can no longer reach it.
    """

    def __init__(self, *, naive_is_utc: bool = False) -> None:
        self.naive_is_utc = naive_is_utc
        self.name_of: Callable[[str], str] = _in_an_argument  # by the path in what is being lent
        self._functions: dict[int, Bridge] = {}
        self._numbers: dict[int, int] = {}  # by the identity of the function
        self._times_lent: dict[int, int] = {}
        self._last_function = -1
        self._awaitables: dict[int, Awaitable[Any]] = {}  # that nobody awaits yet
        self._last_awaitable = _FIRST_AWAITABLE - 1

    def lend_function(self, function: Callable[..., Any], path: str) -> tuple[int, int, str]:
        number = self._numbers.get(id(function))
        if number is None:
            number = self._add(function, path)
        self._times_lent[number] += 1
        name = getattr(function, "__name__", "") or ""
        mode = self._functions[number].mode
        return number, mode, name if isinstance(name, str) and name != "<lambda>" else ""

    def _add(self, function: Callable[..., Any], path: str) -> int:
        if len(self._functions) == MOST_FUNCTIONS:
            raise SerializationError(f"a run can be lent at most {MOST_FUNCTIONS:,} functions")
        self._last_function = number = self._last_function + 1
        mode, name, marks = mode_of(function), self.name_of(path), Marks.of(function)
        self._functions[number] = Bridge(function, mode, name, marks)
        self._numbers[id(function)] = number
        self._times_lent[number] = 0
        return number

    def note_names(self, named: Iterable[tuple[str, object]]) -> None:
        """What was lent under several names goes by all of them: a rule for one holds for it."""
        for name, function in named:
            number = self._numbers.get(id(function))
            if number is not None:
                bridge = self._functions[number]
                if name not in (bridge.name, *bridge.also):
                    self._functions[number] = bridge._replace(also=(*bridge.also, name))

    def release(self, number: int) -> None:
        """The guest cannot reach one of the places that the function was lent to."""
        if number not in self._functions:
            raise ProtocolError(f"the guest released bridge {number}, which is not lent")
        self._times_lent[number] -= 1
        if not self._times_lent[number]:
            bridge = self._functions.pop(number)
            del self._numbers[id(bridge.function)], self._times_lent[number]

    @property
    def lends_functions(self) -> bool:
        return bool(self._functions or self._awaitables)

    def lend_awaitable(self, awaitable: Awaitable[Any]) -> int:
        self._last_awaitable += 1
        self._awaitables[self._last_awaitable] = awaitable
        return self._last_awaitable

    def function(self, number: int) -> Bridge:
        found = self._functions.get(number)
        if found is None:
            raise ProtocolError(f"the guest called bridge {number}, which is not lent")
        return found

    def take_awaitables(self) -> list[tuple[int, Awaitable[Any]]]:
        """The awaitables lent since the last call, with their numbers."""
        if not self._awaitables:
            return []
        taken, self._awaitables = self._awaitables, {}
        return list(taken.items())

    def close(self) -> None:
        """Closes coroutines that will never be awaited; Python would warn about them."""
        for awaitable in self._awaitables.values():
            if inspect.iscoroutine(awaitable):
                awaitable.close()


def in_answer_of(name: str) -> Callable[[str], str]:
    """Names what a call gives back: `db.open().query`, and `db.rows()[].delete` in any place."""

    def name_of(path: str) -> str:
        return f"{name}(){_INDEX.sub('[]', path.removeprefix('return value'))}"

    return name_of


def _in_an_argument(path: str) -> str:
    """Of what the host gives to a function of the guest's."""
    return f"callback.{path}"
