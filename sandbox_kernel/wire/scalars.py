"""Checks of single values where JavaScript and Python differ or a worker might lie."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from typing import Any

from ..values import LAST_MOMENT, MAX_SAFE_INTEGER, BigInt, Opaque, Undefined
from .frame import Buffer

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
MILLISECOND = timedelta(milliseconds=1)
_NUMBERS = frozenset((int, float, BigInt))
_BY_VALUE = frozenset((str, bool, type(None), Undefined)) | _NUMBERS
# Python hashes a small int to itself, so a guest can choose many numbers that collide in a set.
_FEW_NUMBERS = 1000


def date_of(milliseconds: Any) -> Any:
    """A datetime, or a description of a date that Python cannot represent."""
    if milliseconds is None:
        return Opaque("Date", "Invalid Date")
    if not -LAST_MOMENT <= milliseconds <= LAST_MOMENT:
        raise ValueError("a time is outside the range of JavaScript's dates")
    try:
        return EPOCH + MILLISECOND * milliseconds
    except OverflowError:
        return Opaque("Date", f"Date({milliseconds})")


def check_keys(keys: Iterable[Any]) -> None:
    """Refuses integers that JavaScript's numbers cannot be: they can be chosen to collide."""
    for key in keys:
        if type(key) is int and not -MAX_SAFE_INTEGER <= key <= MAX_SAFE_INTEGER:
            raise ValueError("a key is not a safe integer of JavaScript")


def index_below(value: Any, end: int) -> int:
    """Checks that a value is an index from 0 to `end - 1`."""
    if type(value) is not int or not 0 <= value < end:
        raise ValueError(f"{value!r} is not an index below {end}")
    return value


def take_attachment(attachments: list[Buffer | None], index: Any) -> Buffer:
    """Takes an attachment, which can be used once: two values must not share mutable data."""
    data = attachments[index_below(index, len(attachments))]
    if data is None:
        raise ValueError("an attachment is used twice")
    attachments[index] = None
    return data


def fit_for_sets(members: Iterable[Any], largest: int) -> bool:
    """Whether Python compares members by value, as JavaScript does, and hashes them well.

    `largest` is the size of the largest set that they are split into.
    """
    kinds = set(map(type, members))
    return kinds <= _BY_VALUE and (largest <= _FEW_NUMBERS or not kinds & _NUMBERS)
