"""Code cannot call what runs code: the one rule for tools, however they are named or wrapped."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, TypeVar

from ..errors import SandboxError

_MARK = "__sandbox_runs_code__"
_NAMES = frozenset(
    ("executecode", "codeexecution", "executeplan", "runcode", "runprogram", "jsrun")
)
_RUNS_CODE = ("sandbox_kernel.run", "sandbox_kernel.tools", "sandbox_kernel.agents")
_Function = TypeVar("_Function", bound=Callable[..., Any])


class RecursionRefusedError(SandboxError, PermissionError):
    """Code called a tool that runs code."""


def runs_code(function: _Function) -> _Function:
    """Marks a function that runs code of its caller's: code cannot call it, so nothing recurs."""
    setattr(function, _MARK, True)
    return function


def is_name_of_one(name: str) -> bool:
    """`execute_code` in any spelling, such as `executeCode` or `EXECUTE-CODE`."""
    return name.replace("_", "").replace("-", "").casefold() in _NAMES


def is_one(function: Any) -> bool:
    """By its mark, by its own name, or because it is a part of ours that runs code."""
    plain = unwrapped(function)
    mark = getattr(function, _MARK, getattr(plain, _MARK, None))
    if mark is not None:
        return bool(mark)
    owner = getattr(plain, "__self__", None)
    if getattr(owner, "runs_code", False) is True:
        return True
    if is_name_of_one(str(getattr(plain, "__name__", ""))):
        return True
    module = getattr(plain, "__module__", None) or type(plain).__module__
    return module in _RUNS_CODE or module.startswith(tuple(f"{each}." for each in _RUNS_CODE))


def unwrapped(function: Any) -> Any:
    """Without `partial` and decorators that say what they wrap."""
    plain = function
    for _ in range(100):
        if isinstance(plain, functools.partial):
            plain = plain.func
        elif callable(inner := getattr(plain, "__wrapped__", None)):
            plain = inner
        else:
            break
    return plain


def refuse(name: str) -> None:
    """Raises RecursionRefusedError; the name may be anything that code said."""
    raise RecursionRefusedError(f"{name:.80} runs code, and cannot be called from inside code")
