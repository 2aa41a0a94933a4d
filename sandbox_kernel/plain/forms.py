"""What a container may become besides a dict or a list: forms that cross faster than those."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..values import MAX_SAFE_INTEGER


class Records:
    """Rows, given as columns of `count` cells each; the guest gets an array of objects."""

    __slots__ = ("columns", "count")

    def __init__(self, count: int, columns: Mapping[str, Any]) -> None:
        self.count = count
        self.columns = columns


class Numbers:
    """A buffer of numbers; the guest gets a plain array of them, null where there is NaN."""

    __slots__ = ("buffer",)

    def __init__(self, buffer: Any) -> None:
        self.buffer = buffer


class Moments(Numbers):
    """A buffer of milliseconds since the epoch; the guest gets an array of Dates, null for NaN."""

    __slots__ = ()


def are_safe(lowest: int, highest: int) -> bool:
    """Whether all whole numbers between these are exact as JavaScript's numbers."""
    return lowest >= -MAX_SAFE_INTEGER and highest <= MAX_SAFE_INTEGER
