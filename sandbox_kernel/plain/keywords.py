"""Functions that JavaScript cannot call, because they need arguments by keyword."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from types import FunctionType, MethodType
from typing import Any

from ..errors import SerializationError


def check_callable(function: Callable[..., Any]) -> None:
    """Raises SerializationError if a keyword-only argument has no default: every call would fail."""
    names = _needed(function)
    if not names:
        return
    name = getattr(function, "__name__", "f")
    before = "".join(f"{each}, " for each in _by_position(function))
    given = ", ".join(f"{each}={each}" for each in names)
    raise SerializationError(
        f"JavaScript cannot pass {', '.join(names)} of {name} by keyword; pass a function that takes"
        f" everything by position, such as lambda {before}{', '.join(names)}: {name}({before}{given})"
    )


def _needed(function: Any) -> list[str]:
    """The keyword-only arguments without a default. As cheap as possible: every lent function is asked."""
    kind = type(function)
    if kind is FunctionType or kind is MethodType:
        code = function.__code__
        if not code.co_kwonlyargcount:
            return []
        names = code.co_varnames[code.co_argcount : code.co_argcount + code.co_kwonlyargcount]
        return [name for name in names if name not in (function.__kwdefaults__ or ())]
    if isinstance(function, partial):
        return [name for name in _needed(function.func) if name not in function.keywords]
    call = getattr(kind, "__call__", None)  # noqa: B004  # we inspect the method itself
    return _needed(call) if type(call) is FunctionType else []


def _by_position(function: Any) -> tuple[str, ...]:
    """The names to write before them in an example."""
    code = getattr(function, "__code__", None)
    if code is None:
        return ()
    names: tuple[str, ...] = code.co_varnames[: code.co_argcount]
    return names[1:] if type(function) is MethodType else names
