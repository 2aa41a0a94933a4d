"""Lockdown as a list of steps, laid out once and taken in every process that is forked.

They are laid out before the fork, because whatever a fork makes for itself costs it page faults.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

from ..errors import IsolationError
from .libc import ffi


class Step(NamedTuple):
    """A call, and what it returns if the system agrees."""

    what: str  # it does, such as "closing descriptor 3"
    function: Callable[..., Any]
    args: tuple[Any, ...]
    expected: Any = None
    memory: Any = (
        None  # that an address among the arguments points to; it lives as long as the step
    )


def take(steps: Iterable[Step]) -> None:
    """Takes all of them, in order, or raises at the first that fails."""
    for step in steps:
        if step.function(*step.args) != step.expected:
            raise IsolationError(f"{step.what} failed (errno {ffi.errno})")
