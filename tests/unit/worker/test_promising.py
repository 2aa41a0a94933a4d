"""Which lent functions give promises, read from real orders."""

from __future__ import annotations

from typing import Any

from sandbox_kernel.lending import lend
from sandbox_kernel.options import CodeExecutionOptions
from sandbox_kernel.worker.promising import Promising, promising


async def later() -> None: ...


def now() -> None: ...


def of(**options: Any) -> Promising:
    return promising(lend("", CodeExecutionOptions.of(**options))[0])


def test_async_functions_are_told_from_others() -> None:
    shared = [1, 2]
    found = of(
        imports={"db": {"later": later, "now": now, "N": 1}, "empty": {}, "x": {"rows": shared}},
        globals={"a": later, "b": now, "c": {"later": later}, "d": 1.5, "e": 10**30, "f": shared},
    )
    assert found.names == {"a"}
    assert found.exports == {"db": {"later"}, "empty": frozenset(), "x": frozenset()}


def test_values_without_functions_have_none() -> None:
    assert of() == of(globals={"rows": [1]}) == Promising()
