"""`repr` for what holds a guest's values: in Python's notation, and always short.

asyncio, loggers, debuggers and test runners take the `repr` of a result that nobody asked to see.
Python's own would spell out what is shared each time it is met, which need not end.

Knows nothing of the values themselves: a class that holds others says what they are.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable
from dataclasses import fields, is_dataclass
from itertools import islice
from typing import Any, NamedTuple

from .budget import Budget, capped, clipped, digits

_CHARACTERS = 10_000  # of a whole repr
_WORK = 3_000
_TEXT = 1_000  # of one text in it
_BUFFER = 100  # items of a typed array that is spelled
_DEEPEST = 40
_NOTES = 200  # characters more than a message shows, so that none of them is a note


class Parts(NamedTuple):
    """A structure to spell: what stands around its items, the items, and how many there are."""

    opening: str
    items: Iterable[Any]
    size: int
    closing: str


class Named(NamedTuple):
    """An item with something before it, such as a key or the name of a field."""

    name: str
    value: Any


class Holder:
    """A class that holds values; `repr` spells as many of its parts as fit."""

    __slots__ = ()

    def brief_parts(self) -> Parts:
        raise NotImplementedError

    def __repr__(self) -> str:
        return brief(self)


def brief(value: object, most: int = _CHARACTERS) -> str:
    """The `repr` of a value in at most so many characters, however large, deep or circular it is."""
    return capped(_Brief(most).spell(value), most)


def brief_start(value: object, most: int = 80) -> str:
    """The beginning of a value's `repr`, for a message about it."""
    return clipped(brief(value, most + _NOTES), most)


def brief_text(text: str | bytes) -> str:
    """The `repr` of a text or of bytes, cut."""
    return _quoted(text, _TEXT)


def brief_digits(value: int) -> str:
    """A whole number, cut."""
    return digits(value, _TEXT)


def brief_name(name: str) -> str:
    """A name as it is, cut."""
    return clipped(name, _TEXT // 5)


class _Brief:
    """One repr: what contains the part at hand, and the budget left."""

    def __init__(self, most: int) -> None:
        self._budget = Budget(most * 4 // 5, _WORK)  # the rest is for notes
        self._above: list[object] = []

    def spell(self, value: Any) -> str:
        parts = _parts(value)
        if parts is None:
            text = _leaf(value, max(0, min(_TEXT, self._budget.characters)))
            self._budget.spend(len(text) + 2)
            return text
        if len(self._above) >= _DEEPEST or any(value is holder for holder in self._above):
            self._budget.spend(5)
            return "..."
        self._above.append(value)
        text = f"{parts.opening}{self._items(parts)}{parts.closing}"
        self._above.pop()
        return text

    def _items(self, parts: Parts) -> str:
        self._budget.spend(len(parts.opening) + len(parts.closing) + 2)
        spelled: list[str] = []
        for item in islice(parts.items, max(0, self._budget.work)):
            if self._budget.spent:
                break
            spelled.append(self._item(item))
        left = parts.size - len(spelled)
        if left > 0:
            spelled.append(f"... {left:,} more")
        return ", ".join(spelled)

    def _item(self, item: Any) -> str:
        if type(item) is not Named:
            return self.spell(item)
        self._budget.spend(len(item.name), 0)
        return item.name + self.spell(item.value)


def _parts(value: Any) -> Parts | None:
    """The parts of a structure; None for what has no inside."""
    if isinstance(value, Holder):
        return value.brief_parts()
    if isinstance(value, dict):
        entries = (Named(f"{_key(key)}: ", item) for key, item in value.items())
        return Parts("{", entries, len(value), "}")
    if isinstance(value, list):
        return Parts("[", value, len(value), "]")
    if isinstance(value, tuple):
        return Parts("(", value, len(value), ",)" if len(value) == 1 else ")")
    if isinstance(value, set | frozenset):
        return Parts("{", value, len(value), "}") if value else Parts("set(", (), 0, ")")
    if is_dataclass(value) and not isinstance(value, type):
        return _data(value)
    return None


def _data(value: Any) -> Parts:
    shown = [field.name for field in fields(value) if field.repr]
    named = (Named(f"{name}=", getattr(value, name)) for name in shown)
    return Parts(f"{type(value).__name__}(", named, len(shown), ")")


def _key(key: object) -> str:
    return _leaf(key, _TEXT // 5)


def _leaf(value: Any, most: int) -> str:
    if isinstance(value, str) or type(value) in (bytes, bytearray):
        return _quoted(value, most)
    if type(value) is int:
        return digits(value, most)
    if hasattr(value, "__len__") and not _is_short_buffer(value):
        return f"<{type(value).__name__} of {len(value):,}>"
    return clipped(repr(value), max(most, 40))


def _is_short_buffer(value: Any) -> bool:
    """Whether its own `repr` is short; that of other containers need not be."""
    return isinstance(value, bytes | memoryview | array) and len(value) <= _BUFFER


def _quoted(text: str | bytes | bytearray, most: int) -> str:
    left = len(text) - most
    return repr(text) if left <= 0 else f"{text[:most]!r}... {left:,} more"
