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

from ...values import GuestError, JSMap, Opaque, Undefined
from ..show.clean import clean, clean_line
from ..show.numbers import spell_number
from ..show.render import quote, show

DEPTH = 8
BREADTH = 60
NODES = 300
TEXT = 1_000


class _Budget:
    """How much of one value may still be drawn, and what contains the part at hand."""

    def __init__(self) -> None:
        self.nodes = NODES
        self.above: list[int] = []


def outline(value: Any, _budget: _Budget | None = None) -> list[Any]:
    """Draw `value`, however large, deep or circular it is."""
    budget = _budget or _Budget()
    budget.nodes -= 1
    leaf = _leaf(value)
    if leaf is not None:
        return leaf
    if id(value) in budget.above:
        return ["note", "[Circular]"]
    if len(budget.above) >= DEPTH or budget.nodes <= 0:
        return ["note", _class_name(value)]
    budget.above.append(id(value))
    try:
        return _structure(value, budget)
    finally:
        budget.above.pop()


def _leaf(value: Any) -> list[Any] | None:
    match value:
        case str():
            return _cut("string", value)
        case bool():
            return ["boolean", "true" if value else "false"]
        case int() | float():
            return _cut("number", spell_number(value))
        case None | Undefined():
            return ["null", show(value)]
        case GuestError():
            return _cut("error", f"{value}\n{value.stack or ''}".rstrip())
        case Mapping() | Set() | list() | tuple() | bytes() | bytearray() | memoryview() | array():
            return None
        case Opaque() if value.fields is not None:
            return None
        case _:
            return _cut("note", show(value))


def _cut(kind: str, text: str) -> list[Any]:
    leaf = [kind, clean(text[:TEXT])]
    return [*leaf, len(text) - TEXT] if len(text) > TEXT else leaf


def _class_name(value: Any) -> str:
    return show(value, depth=-1)[1:-1]


def _structure(value: Any, budget: _Budget) -> list[Any]:
    match value:
        case Opaque():
            fields = value.fields or {}
            return _filled("object", _class_name(value), fields.items(), len(fields), budget)
        case Mapping() if not isinstance(value, JSMap):
            return _filled("object", "", value.items(), len(value), budget)
    title = f"{_class_name(value)}({len(value)})"
    match value:
        case JSMap():
            return _filled("map", title, value.items(), len(value), budget)
        case Set():
            return _filled("set", title, enumerate(value), len(value), budget)
        case _:
            return _filled("array", title, enumerate(value), len(value), budget)


def _key(key: Any, kind: str) -> str:
    """In quotes if it is a string in a map, whose keys may be anything."""
    if not isinstance(key, str):
        return str(outline(key)[1])
    cut = key if len(key) <= 200 else f"{key[:200]}…"
    return quote(cut) if kind == "map" else clean_line(cut)


def _filled(
    kind: str, title: str, items: Iterable[tuple[Any, Any]], size: int, budget: _Budget
) -> list[Any]:
    entries: list[Any] = []
    for key, item in islice(items, BREADTH):
        if budget.nodes <= 0:
            break
        entries.append([_key(key, kind), outline(item, budget)])
    return [kind, title, entries, size - len(entries)]
