"""Which values JSON represents exactly: built-in types, safe numbers, nothing shared, not too deep."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

from ..values import MAX_SAFE_INTEGER

_DEEPEST = 100
TEXTS = frozenset((str, type(None)))
_WORDS = TEXTS | {bool}
_SCALARS = _WORDS | {int, float}
PARTS = _SCALARS | {dict, list, tuple}  # the types that plain data has


def plain_containers(root: Any) -> set[int] | None:
    """The identities of all its containers if JSON represents it exactly, else None."""
    seen: set[int] = set()
    level: list[Any] = [root]
    for _ in range(_DEEPEST):
        below: list[Any] = []
        for value in level:
            kind = type(value)
            if kind is str or kind is bool or value is None:
                continue
            if kind is int:
                if -MAX_SAFE_INTEGER <= value <= MAX_SAFE_INTEGER:
                    continue
                return None
            if kind is float:
                if math.isfinite(value) and (value or math.copysign(1.0, value) > 0):
                    continue
                return None
            if id(value) in seen:
                return None
            if kind is dict:
                if not all(type(key) is str for key in value):
                    return None
                below.extend(value.values())
            elif kind is list or kind is tuple:
                below.extend(value)
            else:
                return None
            seen.add(id(value))
        if not below:
            return seen
        level = below
    return None


def are_plain(kinds: set[type], items: Iterable[Any]) -> bool:
    """Whether items of these types are scalars that JSON has."""
    if kinds <= _WORDS:
        return True
    return kinds <= _SCALARS and all(map(_is_plain_scalar, items))


def _is_plain_scalar(value: Any) -> bool:
    kind = type(value)
    if kind is int:
        return bool(-MAX_SAFE_INTEGER <= value <= MAX_SAFE_INTEGER)
    return kind is not float or (
        math.isfinite(value) and (bool(value) or math.copysign(1.0, value) > 0)
    )
