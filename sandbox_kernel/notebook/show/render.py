"""One value as JavaScript consoles print it: nested, cut where it is long, cycles marked."""

from __future__ import annotations

import re
from array import array
from collections.abc import Iterable, Mapping, Sequence, Set
from datetime import datetime
from itertools import islice
from typing import Any

from ...budget import Budget, capped, clipped, hard_limit
from ...clean import clean_line, is_plain
from ...values import TYPED_ARRAYS, ArrayBuffer, GuestError, GuestFunction, JSMap, Opaque, Undefined
from .layout import Block, Layout, lay_out
from .numbers import MOST_DIGITS, spell_number

DEPTH = 4
MAX_ITEMS = 100
MAX_STRING = 10_000
MAX_NAME = 500  # of keys, classes, functions, symbols

_FREE_GROWTH = 8  # characters: two quotes and an escape
_STRUCTURE_WORK = 3  # to lay one out, besides what its items cost
_IDENTIFIER = re.compile(r"[A-Za-z_$][\w$]*\Z", re.ASCII)


def show(value: Any, depth: int = DEPTH, budget: Budget | None = None) -> str:
    """The value as a console prints it inside a structure: strings quoted, cycles marked.

    Never fails: what cannot be shown says so.
    """
    budget = budget or Budget()
    most = hard_limit(budget.characters)
    try:
        return capped(_Show(depth, budget).text(value), most)
    except Exception as fault:
        return not_shown(value, fault)


def not_shown(value: Any, fault: Exception) -> str:
    """What stands in for a value that made its rendering fail."""
    return f"[{type(value).__name__}, which cannot be shown: {type(fault).__name__}]"


def quote(text: str) -> str:
    """A string literal, in the first kind of quotes that needs no escape."""
    if is_plain(text):
        return f"'{text}'"
    mark = next((mark for mark in "'\"`" if mark not in text), "'")
    body = text.replace("\\", "\\\\").replace(mark, "\\" + mark)
    return f"{mark}{clean_line(body)}{mark}"


class _Show:
    """One rendering: who contains whom so far, which cycles were met, and the budget left."""

    def __init__(self, depth: int, budget: Budget) -> None:
        self._max_depth = depth
        self._above: list[Any] = []
        self._circular: dict[int, int] = {}
        self._budget = budget

    def text(self, value: Any) -> str:
        return self._value(value).text

    def _value(self, value: Any) -> Layout:
        plain = _primitive(value, max(0, self._budget.characters))
        if plain is not None:
            if isinstance(value, str):
                self._charge_escapes(len(plain) - min(len(value), MAX_STRING))
            return self._spelled(plain)
        if any(value is holder for holder in self._above):
            number = self._circular.setdefault(id(value), len(self._circular) + 1)
            return self._spelled(f"[Circular *{number}]")
        if len(self._above) > self._max_depth or self._budget.spent:
            return self._spelled(f"[{class_name(value)}]")
        self._budget.spend(2, _STRUCTURE_WORK)
        self._above.append(value)
        block = self._structure(value)
        self._above.pop()
        if id(value) in self._circular:
            block.prefix = f"<ref *{self._circular[id(value)]}> {block.prefix}"
        return lay_out(block, len(self._above))

    def _charge_escapes(self, growth: int) -> None:
        """A text that grew when it was quoted took longer than its length tells."""
        if growth > _FREE_GROWTH:
            self._budget.spend(0, growth // 16)

    def _spelled(self, text: str) -> Layout:
        self._budget.spend(len(text) + 2 + 2 * len(self._above))  # as if on a line of its own
        return Layout(text)

    def _structure(self, value: Any) -> Block:
        match value:
            case JSMap():
                return self._map(value)
            case Opaque():
                name = class_name(value)
                self._budget.spend(len(name), 0)
                return Block(f"{name} ", "{}", self._fields(value.fields or {}))
            case Mapping() if _is_object(value):
                return Block("", "{}", self._fields(value))
            case Mapping():
                return self._map(value)
            case Set():
                return Block(f"Set({len(value)}) ", "{}", self._items(value, len(value)))
            case list() | tuple():
                return Block("", "[]", self._items(value, len(value)), grouped=True)
            case ArrayBuffer():
                return Block("ArrayBuffer ", "{}", [*map(self._spelled, _buffer_fields(value))])
            case _:
                name, items = _typed_array(value)
                prefix = f"{name}({len(items)}) "
                return Block(prefix, "[]", self._items(items, len(items)), grouped=True)

    def _map(self, value: Mapping[Any, Any]) -> Block:
        entries = [
            self._value(key).beside(" => ", self._value(item))
            for key, item in self._affordable(value.items())
        ]
        return Block(f"Map({len(value)}) ", "{}", _with_rest(entries, len(value), "item"))

    def _fields(self, value: Mapping[str, Any]) -> list[Layout]:
        entries = [
            self._key(key).beside(": ", self._value(item))
            for key, item in self._affordable(value.items())
        ]
        return _with_rest(entries, len(value), "key")

    def _key(self, key: Any) -> Layout:
        if not isinstance(key, str):  # the host's own dicts may mix them
            return Layout(show(key, 0, self._budget.part(MAX_NAME, MAX_ITEMS)))
        text = _key(key)
        self._charge_escapes(len(text) - min(len(key), MAX_NAME))
        return self._spelled(text)

    def _items(self, value: Iterable[Any], count: int) -> list[Layout]:
        entries = [self._value(item) for item in self._affordable(value)]
        return _with_rest(entries, count, "item")

    def _affordable(self, values: Iterable[Any]) -> Iterable[Any]:
        """The first few, as long as the budget lasts."""
        for item in islice(values, MAX_ITEMS):
            if self._budget.spent:
                return
            yield item


def _with_rest(entries: list[Layout], count: int, noun: str) -> list[Layout]:
    left = count - len(entries)
    if left > 0:
        entries.append(Layout(f"... {left} more {noun}{'s' if left > 1 else ''}", is_rest=True))
    return entries


def _primitive(value: Any, room: int) -> str | None:
    """The text of a value that has no inside; None for a structure."""
    match value:
        case None:
            return "null"
        case bool():
            return "true" if value else "false"
        case str():
            return _cut_string(value, min(MAX_STRING, room))
        case int() | float():
            return spell_number(value, min(MOST_DIGITS, room))
        case list() | dict():
            return None
        case Undefined():
            return "undefined"
        case datetime():
            return _date(value)
        case GuestError() | BaseException():
            return f"[{error_line(value, room)}]"
        case GuestFunction():
            return f"[Function: {_name(value.name)}]" if value.name else "[Function (anonymous)]"
        case Opaque():
            return _name(value.text) if value.fields is None else None
        case Mapping() | Set() | tuple() | bytes() | bytearray() | memoryview() | array():
            return None
        case _:
            return None if hasattr(value, "tolist") else f"[{_name(type(value).__name__)}]"


def _name(text: str) -> str:
    return clean_line(clipped(text, MAX_NAME))


def _cut_string(text: str, most: int) -> str:
    left = len(text) - most
    if left <= 0:
        return quote(text)
    return f"{quote(text[:most])}... {left} more character{'s' if left > 1 else ''}"


def _date(value: datetime) -> str:
    stamp = value.isoformat(timespec="milliseconds")
    return stamp.removesuffix("+00:00") + "Z" if stamp.endswith("+00:00") else stamp


def error_line(error: BaseException, room: int = MAX_STRING) -> str:
    """`TypeError: message`, on one line."""
    name = error.name if isinstance(error, GuestError) else type(error).__name__
    message = error.message if isinstance(error, GuestError) else str(error)
    cut = clipped(message, min(MAX_STRING, room))
    return clean_line(f"{clipped(name, MAX_NAME)}: {cut}" if cut else clipped(name, MAX_NAME))


def _key(key: str) -> str:
    cut = clipped(key, MAX_NAME)
    return cut if _IDENTIFIER.match(cut) else quote(cut)


def class_name(value: Any) -> str:
    """What a console writes for a structure that it does not open: `Array`, `Map`, `Point`."""
    match value:
        case Opaque():
            return _name(value.class_name)
        case JSMap():
            return "Map"
        case Mapping():
            return "Object" if _is_object(value) else "Map"
        case Set():
            return "Set"
        case list() | tuple():
            return "Array"
        case ArrayBuffer():
            return "ArrayBuffer"
        case _:
            return _typed_array(value)[0]


def _is_object(value: Mapping[Any, Any]) -> bool:
    """By its first key: a guest's objects have only strings, and its Maps are `JSMap`."""
    return isinstance(next(iter(value), ""), str)


def _typed_array(value: Any) -> tuple[str, Sequence[Any]]:
    """The JavaScript name and the items of whatever crosses as a typed array."""
    view = memoryview(value)
    name = TYPED_ARRAYS.get(view.format.lstrip("<>=@"), "TypedArray")
    return name, view if view.ndim == 1 else view.cast("B")


def _buffer_fields(value: ArrayBuffer) -> list[str]:
    more = f" ... {len(value) - 50} more bytes" if len(value) > 50 else ""
    return [f"[Uint8Contents]: <{value[:50].hex(' ')}{more}>", f"byteLength: {len(value)}"]
