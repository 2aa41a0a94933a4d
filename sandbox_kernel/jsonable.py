"""Values as JSON can hold them, for `to_json` and for application/json in notebooks."""

from __future__ import annotations

import math
from array import array
from collections.abc import Callable, Mapping, Set
from datetime import datetime
from typing import Any

from .values import MAX_SAFE_INTEGER, BigInt, GuestError, GuestFunction, JSMap, Opaque, Undefined

_DEEPEST = 200
_REPEATS = 100_000  # containers spelled out again where a value refers to them again
_LONGEST_DECIMAL = 2**10000  # longer ones take quadratic time to print, and Python refuses


def to_jsonable(value: Any) -> Any:
    """Lossy where JSON is poorer: a bigint becomes its digits, a Map its pairs, NaN null."""
    return _Speller().spell(value, ())


class _Speller:
    """A guest's value may be small and yet endless when spelled out; then the rest is named."""

    def __init__(self) -> None:
        self._met: set[int] = set()
        self._repeats = 0

    def spell(self, value: Any, above: tuple[int, ...]) -> Any:
        if value is None or isinstance(value, bool | str):
            return value
        if isinstance(value, int):
            return _whole(value)
        if isinstance(value, float):
            return value if math.isfinite(value) else None
        if id(value) in above or len(above) > _DEEPEST:
            return "[Circular]"
        if id(value) in self._met:
            self._repeats += 1
            if self._repeats > _REPEATS:
                return "[Repeated]"
        self._met.add(id(value))
        below = (*above, id(value))
        return _structure(value, lambda item: self.spell(item, below))


def _whole(value: int) -> int | str:
    if not isinstance(value, BigInt) and abs(value) <= MAX_SAFE_INTEGER:
        return int(value)
    return str(int(value)) if abs(value) < _LONGEST_DECIMAL else hex(value)


def _structure(value: Any, spell: Callable[[Any], Any]) -> Any:
    match value:
        case JSMap():
            return [[spell(k), spell(v)] for k, v in value.items()]
        case Mapping():
            return {
                str(key): spell(item)
                for key, item in value.items()
                if not isinstance(item, Undefined)
            }
        case bytes() | bytearray() | array():
            return [spell(item) for item in value]
        case list() | tuple() | Set():
            return [spell(item) for item in value]
        case datetime():
            return value.isoformat()
        case GuestError():
            return {"name": value.name, "message": value.message}
        case BaseException():
            return {"name": type(value).__name__, "message": str(value)}
        case Opaque():
            return value.text
        case GuestFunction():
            return f"[Function: {value.name}]" if value.name else "[Function (anonymous)]"
        case _:
            return None
