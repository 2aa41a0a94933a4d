"""Single values, where JavaScript and Python differ or a worker might lie: moments, numbers, keys."""

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
# Python hashes numbers to themselves, so a guest can choose many that all collide in a set.
_FEW_NUMBERS = 1000


def date_of(milliseconds: Any) -> Any:
    """A moment, or what to show for one that Python does not have."""
    if milliseconds is None:
        return Opaque("Date", "Invalid Date")
    if not -LAST_MOMENT <= milliseconds <= LAST_MOMENT:
        raise ValueError("a time that JavaScript does not have")
    try:
        return EPOCH + MILLISECOND * milliseconds
    except OverflowError:
        return Opaque("Date", f"Date({milliseconds})")


def check_keys(keys: Iterable[Any]) -> None:
    """Refuses whole numbers that JavaScript does not have: they can be made to collide."""
    for key in keys:
        if type(key) is int and not -MAX_SAFE_INTEGER <= key <= MAX_SAFE_INTEGER:
            raise ValueError("a key that is no number of JavaScript's")


def index_below(value: Any, end: int) -> int:
    """A number of something there, counted from 0."""
    if type(value) is not int or not 0 <= value < end:
        raise ValueError(f"no such number: {value!r}")
    return value


def take_attachment(attachments: list[Buffer | None], index: Any) -> Buffer:
    """Binary data that nobody else may have: two values would share what they may change."""
    data = attachments[index_below(index, len(attachments))]
    if data is None:
        raise ValueError("binary data that is used twice")
    attachments[index] = None
    return data


def fit_for_sets(members: Iterable[Any], largest: int) -> bool:
    """Whether Python compares members by value, as JavaScript does, and hashes them well.

    `largest` is how many of them are in one set.
    """
    kinds = set(map(type, members))
    return kinds <= _BY_VALUE and (largest <= _FEW_NUMBERS or not kinds & _NUMBERS)
