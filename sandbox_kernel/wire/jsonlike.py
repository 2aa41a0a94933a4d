"""Which values JSON represents exactly: built-in types, safe numbers, nothing shared, not too deep."""

from __future__ import annotations

import math
from collections.abc import Collection
from typing import Any

from ..values import MAX_SAFE_INTEGER

_DEEPEST = 100
_TEXTS = frozenset((str, bool, type(None)))
_SCALARS = _TEXTS | {int, float}
_PARTS = _SCALARS | {dict, list, tuple}


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


def are_plain(items: Collection[Any]) -> bool | None:
    """Whether they are scalars that JSON has; None if there are containers of which JSON has the type."""
    kinds = set(map(type, items))
    if kinds <= _TEXTS:
        return True
    if kinds <= _SCALARS:
        return all(map(_is_plain_scalar, items))
    return None if kinds <= _PARTS else False


def _is_plain_scalar(value: Any) -> bool:
    kind = type(value)
    if kind is int:
        return bool(-MAX_SAFE_INTEGER <= value <= MAX_SAFE_INTEGER)
    return kind is not float or (
        math.isfinite(value) and (bool(value) or math.copysign(1.0, value) > 0)
    )
