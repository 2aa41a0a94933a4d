"""`limited()`: a budget for any bridge or capability. Each run has its own, for all functions together."""

from __future__ import annotations

import asyncio
import functools
import inspect
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from time import monotonic
from typing import Any

from ..bridges import mode_of
from ..calls import Marks, mark
from ..errors import LimitError, OptionError, SerializationError
from ..exports import exports_of, holds_functions
from ..loans import Capability, Loan, is_capability
from ..wire.messages import ASYNC
from .checks import whole

_PLAIN = "(function (host) { return { __proto__: null, '': host }; })"


def limited(
    exports: Any,
    *,
    calls: int | None = None,
    per_second: int | None = None,
    at_once: int | None = None,
) -> Limited:
    """Puts a budget on `exports`: a mapping of functions, a module, an object, or a capability.

    A function that one of them returns is not counted.

    Args:
        exports: What is lent, as `imports={"api": limited(exports, calls=5)}` or with `lend=`.
        calls: How many calls a run may make; one more raises `LimitError` in it.
        per_second: How many it may make within any second; one more raises, too.
        at_once: How many may be in flight; one more waits. Plain functions never overlap anyway.
    """
    given = {"calls": calls, "per_second": per_second, "at_once": at_once}
    checked = {name: whole(name, value, 1) for name, value in given.items() if value is not None}
    if not checked:
        raise OptionError("limited needs calls=, per_second= or at_once=")
    if is_capability(exports):
        return Limited(exports, checked)
    if inspect.isroutine(exports):
        name = getattr(exports, "__name__", "function")
        raise OptionError(
            f"limited takes a mapping of functions; write {{{name!r:.80}: {name:.80}}}"
        )
    return Limited(_Plain({**exports_of(exports).values}), checked)


@dataclass(frozen=True, slots=True)
class _Plain:
    """Functions and values of the caller's, as a capability without a name."""

    exports: Mapping[str, Any]

    @property
    def name(self) -> str:
        raise OptionError(
            "what is limited has no name here; write lend={'NAME': limited(…)}", "lend"
        )

    def loan(self, name: str) -> Loan:
        return Loan(_PLAIN, self.exports, {"": tuple(self.exports)})

    def describe(self, name: str | None = None) -> str:
        names = "".join(f"  export const {each}: any;\n" for each in self.exports)
        return f"declare module '{name or 'NAME'}' {{\n{names}}}\n"


class Limited(Mapping[str, Any]):
    """What `limited()` returns: a capability; of functions, also what `imports=` takes.

    Whoever reads it as a mapping gets functions that count, too: for as long as it lives.
    """

    def __init__(self, capability: Capability, limits: Mapping[str, int]) -> None:
        self._capability = capability
        self._limits = limits
        self._kept: Mapping[str, Any] | None = None

    @property
    def name(self) -> str:
        return self._capability.name

    def loan(self, name: str) -> Loan:
        loan, budget = self._capability.loan(name), Budget(**self._limits)
        return replace(loan, host=budget.around_all(loan.host))

    def describe(self, name: str | None = None) -> str:
        return self._capability.describe(name)

    def _exports(self) -> Mapping[str, Any]:
        if not isinstance(self._capability, _Plain):
            raise OptionError("a limited capability is lent with lend=", "lend")
        if self._kept is None:
            self._kept = self.loan("").host
        return self._kept

    def __getitem__(self, name: str) -> Any:
        return self._exports()[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._exports())

    def __len__(self) -> int:
        return len(self._exports())


class Budget:
    """Of one run."""

    def __init__(
        self,
        calls: int | None = None,
        per_second: int | None = None,
        at_once: int | None = None,
    ) -> None:
        self._calls = calls
        self._made = 0
        self._recent: deque[float] | None = None if per_second is None else deque(maxlen=per_second)
        self._places = None if at_once is None else asyncio.Semaphore(at_once)

    def around_all(self, given: Any) -> Any:
        """The same value, in which every function counts, however deep it lies."""
        if isinstance(given, Mapping):
            return {name: self.around_all(value) for name, value in given.items()}
        if type(given) in (list, tuple, set, frozenset):
            return type(given)(map(self.around_all, given))
        if callable(given):
            return self.around(given)
        with suppress(SerializationError):  # which the run raises, too, with a path
            if holds_functions(given):
                kind = type(given).__name__
                raise OptionError(f"limited cannot count functions in a {kind}; use a dict or list")
        return given

    def around(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """The function, which now counts, as does what is called in its place if there is a gate."""
        counts, gated = self._around(function), Marks.of(function).gated
        if gated is not None:
            mark(counts, gated=self._around(gated))
        return counts

    def _around(self, function: Callable[..., Any]) -> Callable[..., Any]:
        if mode_of(function) == ASYNC:

            @functools.wraps(function)
            async def waiting(*args: Any, **named: Any) -> Any:
                self.count()
                return await self._in_place(function(*args, **named))

            return waiting

        @functools.wraps(function)
        def plain(*args: Any, **named: Any) -> Any:
            self.count()
            given = function(*args, **named)
            return self._in_place(given) if inspect.isawaitable(given) else given

        return plain

    def count(self) -> None:
        """Raises if there is nothing left."""
        if self._calls is not None and self._made >= self._calls:
            raise LimitError(f"the {self._calls:,} calls that this run was lent are used up")
        if self._recent is not None:
            now, most = monotonic(), self._recent.maxlen
            if len(self._recent) == most and now - self._recent[0] < 1:
                raise LimitError(f"more than {most:,} calls within a second")
            self._recent.append(now)
        self._made += 1

    async def _in_place(self, awaitable: Any) -> Any:
        if self._places is None:
            return await awaitable
        try:
            await self._places.acquire()
        except BaseException:
            if inspect.iscoroutine(awaitable):
                awaitable.close()  # it will never be awaited
            raise
        try:
            return await awaitable
        finally:
            self._places.release()
