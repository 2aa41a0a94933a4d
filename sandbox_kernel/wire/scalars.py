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
_MOST_DIGITS = (1 << 18) + 1  # and a sign
_LONGEST_NUMBER = 32


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


def bigint_of(text: str) -> BigInt:
    """Of hexadecimal digits, of which QuickJS's bigints have only so many."""
    if len(text) > _MOST_DIGITS:
        raise ValueError("a bigint is longer than any of the engine's")
    return BigInt(text, 16)


def number_of(text: str) -> float:
    """Of one that JSON lacks: infinite, not a number, or whole and large."""
    if len(text) > _LONGEST_NUMBER:
        raise ValueError("a number is longer than any of JavaScript's")
    return float(text)


def index_below(value: Any, end: int) -> int:
    """Checks that a value is an index from 0 to `end - 1`."""
    if type(value) is not int:
        raise ValueError(f"an index is of type {type(value).__name__}")
    if not 0 <= value < end:
        raise ValueError(f"an index is not below {end}")
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
