"""Values as JSON can hold them, for `to_json`."""

from __future__ import annotations

import math
from array import array
from collections.abc import Callable, Mapping, Set
from datetime import datetime
from typing import Any

from .budget import Budget
from .values import MAX_SAFE_INTEGER, BigInt, GuestError, GuestFunction, JSMap, Opaque, Undefined

_DEEPEST = 200
_REPEATED_ITEMS = 100_000  # that may be spelled again where a value refers to them again
_REPEATED_CHARACTERS = 10_000_000
_REPEATED_TEXT = 100_000_000  # characters of longer keys and texts that are shared
_SHORT = 32
_EXACT = "bBhHiI"  # the codes of arrays of integers that JSON represents
BUFFERS = (bytes, bytearray, array)
_LONGEST_DECIMAL = 10_000  # bits; longer ones take quadratic time to print, and Python refuses


def to_jsonable(value: Any) -> Any:
    """Lossy where JSON is poorer: a bigint becomes its digits, a Map its pairs, NaN null."""
    return JSONSpeller().spell(value)


class JSONSpeller:
    """Spells each value once, however large it is, and what is met again as long as that is little.

    A guest's value may be small and yet endless when spelled out; then the rest is named.
    """

    def __init__(self, *, keeps_buffers: bool = False) -> None:
        """`keeps_buffers` leaves binary data as it is, for `json_pieces`: a list is eight times as large."""
        self._keeps_buffers = keeps_buffers
        self._met: set[int] = set()
        self._above: set[int] = set()
        self._repeats = Budget(_REPEATED_CHARACTERS, _REPEATED_ITEMS)
        self._repeating = 0
        self._repeated_text = 0

    def spell(self, value: Any) -> Any:
        if isinstance(value, str):
            return self._leaf(value)
        if value is None or isinstance(value, bool):
            return value
        if isinstance(value, int):
            return self._whole(value)
        if isinstance(value, float):
            return value if math.isfinite(value) else None
        if id(value) in self._above or len(self._above) > _DEEPEST:
            return "[Circular]"
        repeated = id(value) in self._met
        if repeated and not self._may_repeat(value):
            return "[Repeated]"
        self._met.add(id(value))
        self._above.add(id(value))
        self._repeating += repeated
        try:
            if self._keeps_buffers and isinstance(value, BUFFERS):
                return value
            return _structure(value, self.spell, self._leaf)
        finally:
            self._repeating -= repeated
            self._above.remove(id(value))

    def _may_repeat(self, value: Any) -> bool:
        """Whether there is room for all its items; deeper ones are asked for when they are met."""
        self._repeats.spend(0, 1 + _size(value))
        return not self._repeats.spent

    def _leaf(self, text: str) -> str:
        if self._repeating:
            self._repeats.spend(len(text), 0)
        elif len(text) > _SHORT:
            return self._long(text)
        return text

    def _long(self, text: str) -> str:
        """One that is shared, as a key of many objects, takes its room once here, but often in JSON."""
        if id(text) not in self._met:
            self._met.add(id(text))
            return text
        self._repeated_text += len(text)
        return text if self._repeated_text <= _REPEATED_TEXT else f"{text[:_SHORT]}… [Repeated]"

    def _whole(self, value: int) -> int | str:
        if not isinstance(value, BigInt) and abs(value) <= MAX_SAFE_INTEGER:
            return int(value)
        short = value.bit_length() <= _LONGEST_DECIMAL
        return self._leaf(str(int(value)) if short else hex(value))


def _size(value: Any) -> int:
    return len(value) if hasattr(value, "__len__") else 1


def _structure(value: Any, spell: Callable[[Any], Any], leaf: Callable[[str], str]) -> Any:
    match value:
        case bytes() | bytearray():
            return list(value)
        case array() if value.typecode in _EXACT:
            return value.tolist()
        case list() | tuple() | array():
            return [spell(item) for item in value]
        case JSMap():
            return [[spell(k), spell(v)] for k, v in value.items()]
        case Mapping():
            return {
                leaf(str(key)): spell(item)
                for key, item in value.items()
                if not isinstance(item, Undefined)
            }
        case Set():
            return [spell(item) for item in value]
        case datetime():
            return value.isoformat()
        case GuestError():
            return {"name": leaf(value.name), "message": leaf(value.message)}
        case BaseException():
            return {"name": type(value).__name__, "message": leaf(str(value))}
        case Opaque():
            return leaf(value.text)
        case GuestFunction():
            return leaf(f"[Function: {value.name}]" if value.name else "[Function (anonymous)]")
        case _:
            return None
