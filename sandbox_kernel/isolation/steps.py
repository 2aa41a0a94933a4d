"""Lockdown as a list of steps, prepared once and taken in every forked process.

They are prepared before the fork, because everything a forked process allocates costs page faults.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

from ..errors import IsolationError
from .libc import ffi


class Step(NamedTuple):
    """A call, and what it returns if it succeeds."""

    what: str  # for the error message, such as "closing descriptor 3"
    function: Callable[..., Any]
    args: tuple[Any, ...]
    expected: Any = None
    memory: Any = None  # keeps alive what the addresses in `args` point to


def take(steps: Iterable[Step]) -> None:
    """Takes the steps in order; raises IsolationError at the first that fails."""
    for step in steps:
        if step.function(*step.args) != step.expected:
            raise IsolationError(f"{step.what} failed (errno {ffi.errno})")
