"""Walks what is not a built-in container. Its `__len__` may be wrong and its iteration endless."""

from __future__ import annotations

from collections.abc import Iterable, Sized
from itertools import islice
from typing import Any

from ..errors import SerializationError

MOST_VALUES = 10_000_000  # that one crossing may have in all, unless JSON can represent them
DEEPEST = 100_000  # containers within each other


def items_within(owner: Sized, items: Iterable[Any]) -> list[Any]:
    """The items of `owner`. Raises SerializationError if they are more than its length says."""
    size = len(owner)
    if size > MOST_VALUES:
        raise too_many(size)
    found = list(islice(items, size + 1))
    if len(found) > size:
        raise SerializationError(
            f"it has more items than its len() says, which is {size:,}; pass a list or a dict of"
            " what you mean"
        )
    return found


def too_many(count: int) -> SerializationError:
    return SerializationError(
        f"{count:,} values are too many to cross; at most {MOST_VALUES:,} do. Pass fewer, or numbers"
        " as a typed array such as array.array('d') or a numpy array"
    )


def too_deep() -> SerializationError:
    return SerializationError(
        f"containers are nested more than {DEEPEST:,} deep; pass a flat list of what they hold"
    )
