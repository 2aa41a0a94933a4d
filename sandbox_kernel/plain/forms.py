"""What a container may become besides a dict or a list: forms that cross faster than those."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ..values import MAX_SAFE_INTEGER


@dataclass(frozen=True, slots=True, eq=False)
class Records:
    """Rows, given as columns of `count` cells each; the guest gets an array of objects."""

    count: int
    columns: Mapping[str, Any]


@dataclass(frozen=True, slots=True, eq=False)
class Numbers:
    """A buffer of numbers; the guest gets a plain array of them, null where there is NaN."""

    buffer: Any


@dataclass(frozen=True, slots=True, eq=False)
class Moments:
    """A buffer of milliseconds since the epoch; the guest gets an array of Dates, null for NaN."""

    buffer: Any


def are_safe(lowest: int, highest: int) -> bool:
    """Whether all whole numbers between these are exact as JavaScript's numbers."""
    return lowest >= -MAX_SAFE_INTEGER and highest <= MAX_SAFE_INTEGER
