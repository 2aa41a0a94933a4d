"""A guest's value as an outline: nested lists of kinds and texts that the page can draw.

The page never gets a value of the guest, only what is made here: bounded in depth, breadth and
length, every text through `clean`. One place decides, before anything leaves the host.

A leaf is `[kind, text]` or, when characters were left out, `[kind, text, how many]`; a structure is
`[kind, title, [[key, outline] ...], how many entries were left out]`.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Mapping, Set
from itertools import islice
from typing import Any

from ...budget import Budget, clipped
from ...clean import clean_line, clean_start
from ...values import GuestError, JSMap, Opaque, Undefined
from .numbers import spell_number
from .render import class_name, not_shown, quote, show

DEPTH = 8
BREADTH = 60
NODES = 300
CHARACTERS = 100_000
TEXT = 1_000
KEY = 200


def outline(value: Any, budget: Budget | None = None, inner: int = BREADTH) -> list[Any]:
    """Draw `value`, however large, deep or circular it is; `inner` entries of what is inside it.

    Never fails.
    """
    try:
        return _Outline((budget or Budget()).part(CHARACTERS, NODES), inner).draw(value)
    except Exception as fault:
        return ["note", not_shown(value, fault)]


class _Outline:
    """One drawing: what contains the part at hand, and the budget left."""

    def __init__(self, budget: Budget, inner: int) -> None:
        self._budget = budget
        self._inner = inner
        self._above: list[int] = []

    def draw(self, value: Any) -> list[Any]:
        leaf = _leaf(value)
        self._budget.spend(len(leaf[1]) if leaf is not None else 0)
        if leaf is not None:
            return leaf
        if id(value) in self._above:
            return ["note", "[Circular]"]
        if len(self._above) >= DEPTH or self._budget.spent:
            return ["note", class_name(value)]
        self._above.append(id(value))
        drawn = self._structure(value)
        self._above.pop()
        return drawn

    def _structure(self, value: Any) -> list[Any]:
        kind, title = _title(value)
        entries: list[Any] = []
        for key, item in islice(_entries(value), self._inner if self._above[1:] else BREADTH):
            if self._budget.spent:
                break
            name = _key(key, kind)
            self._budget.spend(len(name), 0)
            entries.append([name, self.draw(item)])
        return [kind, title, entries, _size(value) - len(entries)]


def _leaf(value: Any) -> list[Any] | None:
    match value:
        case str():
            return _cut("string", value)
        case bool():
            return ["boolean", "true" if value else "false"]
        case int() | float():
            return _cut("number", spell_number(value, TEXT))
        case None | Undefined():
            return ["null", show(value)]
        case GuestError():
            return _error(value)
        case Mapping() | Set() | list() | tuple() | bytes() | bytearray() | memoryview() | array():
            return None
        case Opaque() if value.fields is not None:
            return None
        case _:
            return _cut("note", show(value, budget=Budget(2 * TEXT)))


def _cut(kind: str, text: str) -> list[Any]:
    shown, left = clean_start(text, TEXT)
    return [kind, shown, left] if left else [kind, shown]


def _error(error: GuestError) -> list[Any]:
    """What it says and its stack, of which no more is put together than is drawn."""
    name, message, stack = error.name[:TEXT], error.message[:TEXT], (error.stack or "")[:TEXT]
    said = f"{name}: {message}" if message else name
    kind, shown, *cut = _cut("error", f"{said}\n{stack}".rstrip())
    left = sum(len(text) - TEXT for text in (error.name, error.message, error.stack or "")
               if len(text) > TEXT) + sum(cut)  # fmt: skip
    return [kind, shown, left] if left else [kind, shown]


def _title(value: Any) -> tuple[str, str]:
    """Its kind, and what is written before its entries."""
    match value:
        case Opaque():
            return "object", class_name(value)
        case JSMap():
            return "map", f"Map({len(value)})"
        case Mapping():
            return "object", ""
        case Set():
            return "set", f"Set({len(value)})"
        case _:
            return "array", f"{class_name(value)}({len(value)})"


def _entries(value: Any) -> Iterable[tuple[Any, Any]]:
    if isinstance(value, Opaque):
        return (value.fields or {}).items()
    return value.items() if isinstance(value, Mapping) else enumerate(value)


def _size(value: Any) -> int:
    return len((value.fields or {}) if isinstance(value, Opaque) else value)


def _key(key: Any, kind: str) -> str:
    """In quotes if it is a string in a map, whose keys may be anything."""
    if not isinstance(key, str):
        leaf = _leaf(key)
        return clipped(leaf[1], KEY) if leaf is not None else _title(key)[1]
    cut = clipped(key, KEY)
    return quote(cut) if kind == "map" else clean_line(cut)
