"""Lockdown as a list of steps, which are laid out once and taken in every process that is forked.

What a fork is the first to make costs it more than it would cost the process it was forked from.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

from ..errors import IsolationError
from .libc import ffi


class Step(NamedTuple):
    """A call, and what it returns if the system agrees."""

    what: str
    function: Callable[..., Any]
    args: tuple[Any, ...]
    expected: Any = None
    memory: Any = (
        None  # that an address among the arguments points to; it lives as long as the step
    )


def take(steps: Iterable[Step]) -> None:
    """Takes all of them, in order, or raises at the first that is refused."""
    for step in steps:
        if step.function(*step.args) != step.expected:
            raise IsolationError(f"{step.what} was refused (errno {ffi.errno})")
