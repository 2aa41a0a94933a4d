"""One value as JavaScript consoles print it: nested, cut where it is long, cycles marked."""

from __future__ import annotations

import re
from array import array
from collections.abc import Iterable, Mapping, Sequence, Set
from datetime import datetime
from typing import Any

from ...values import TYPED_ARRAYS, ArrayBuffer, GuestError, GuestFunction, JSMap, Opaque, Undefined
from .clean import clean_line
from .layout import Block, Layout, lay_out
from .numbers import spell_number

DEPTH = 4
MAX_ITEMS = 100
MAX_STRING = 10_000
MAX_NODES = 20_000  # nothing anyone reads is longer, and a shared structure unfolds without end

_IDENTIFIER = re.compile(r"[A-Za-z_$][\w$]*\Z", re.ASCII)


def show(value: Any, depth: int = DEPTH) -> str:
    """The value as a console prints it inside a structure: strings quoted, cycles marked."""
    return _Show(depth).text(value)


def quote(text: str) -> str:
    """A string literal, in the first kind of quotes that needs no escape."""
    mark = next((mark for mark in "'\"`" if mark not in text), "'")
    body = text.replace("\\", "\\\\").replace(mark, "\\" + mark)
    return f"{mark}{clean_line(body)}{mark}"


class _Show:
    """One rendering: who contains whom so far, which cycles were met, and the budget left."""

    def __init__(self, depth: int) -> None:
        self._max_depth = depth
        self._above: list[Any] = []
        self._circular: dict[int, int] = {}
        self._budget = MAX_NODES

    def text(self, value: Any) -> str:
        return self._value(value).text

    def _value(self, value: Any) -> Layout:
        self._budget -= 1
        plain = _primitive(value)
        if plain is not None:
            return Layout(plain)
        if any(value is holder for holder in self._above):
            number = self._circular.setdefault(id(value), len(self._circular) + 1)
            return Layout(f"[Circular *{number}]")
        if len(self._above) > self._max_depth or self._budget <= 0:
            return Layout(f"[{_class_name(value)}]")
        self._above.append(value)
        block = self._structure(value)
        self._above.pop()
        if id(value) in self._circular:
            block.prefix = f"<ref *{self._circular[id(value)]}> {block.prefix}"
        return lay_out(block, len(self._above))

    def _structure(self, value: Any) -> Block:
        match value:
            case JSMap():
                return self._map(value)
            case Opaque():
                return Block(f"{_class_name(value)} ", "{}", self._fields(value.fields or {}))
            case Mapping() if all(isinstance(key, str) for key in value):
                return Block("", "{}", self._fields(value))
            case Mapping():
                return self._map(value)
            case Set():
                return Block(f"Set({len(value)}) ", "{}", self._items(value, len(value)))
            case list() | tuple():
                return Block("", "[]", self._items(value, len(value)), grouped=True)
            case ArrayBuffer():
                return _array_buffer(value)
            case _:
                name, items = _typed_array(value)
                prefix = f"{name}({len(items)}) "
                return Block(prefix, "[]", self._items(items, len(items)), grouped=True)

    def _map(self, value: Mapping[Any, Any]) -> Block:
        entries = [
            self._value(key).beside(" => ", self._value(item))
            for key, item in _first(value.items(), self._budget)
        ]
        return Block(f"Map({len(value)}) ", "{}", _with_rest(entries, len(value), "item"))

    def _fields(self, value: Mapping[str, Any]) -> list[Layout]:
        entries = [
            Layout(_key(key)).beside(": ", self._value(item))
            for key, item in _first(value.items(), self._budget)
        ]
        return _with_rest(entries, len(value), "key")

    def _items(self, value: Iterable[Any], count: int) -> list[Layout]:
        entries = [self._value(item) for item in _first(value, self._budget)]
        return _with_rest(entries, count, "item")


def _first(values: Iterable[Any], budget: int) -> list[Any]:
    limit = max(0, min(MAX_ITEMS, budget))
    return [item for _, item in zip(range(limit), values, strict=False)]


def _with_rest(entries: list[Layout], count: int, noun: str) -> list[Layout]:
    left = count - len(entries)
    if left > 0:
        entries.append(Layout(f"... {left} more {noun}{'s' if left > 1 else ''}", is_rest=True))
    return entries


def _primitive(value: Any) -> str | None:
    """The text of a value that has no inside; None for a structure."""
    match value:
        case None:
            return "null"
        case bool():
            return "true" if value else "false"
        case str():
            return _cut_string(value)
        case int() | float():
            return spell_number(value)
        case Undefined():
            return "undefined"
        case datetime():
            return _date(value)
        case GuestError() | BaseException():
            return f"[{error_line(value)}]"
        case GuestFunction():
            return (
                f"[Function: {clean_line(value.name)}]" if value.name else "[Function (anonymous)]"
            )
        case Opaque():
            return clean_line(value.text) if value.fields is None else None
        case Mapping() | Set() | list() | tuple() | bytes() | bytearray() | memoryview() | array():
            return None
        case _:
            return None if hasattr(value, "tolist") else clean_line(f"[{type(value).__name__}]")


def _cut_string(text: str) -> str:
    left = len(text) - MAX_STRING
    if left <= 0:
        return quote(text)
    return f"{quote(text[:MAX_STRING])}... {left} more character{'s' if left > 1 else ''}"


def _date(value: datetime) -> str:
    stamp = value.isoformat(timespec="milliseconds")
    return stamp.removesuffix("+00:00") + "Z" if stamp.endswith("+00:00") else stamp


def error_line(error: BaseException) -> str:
    name = error.name if isinstance(error, GuestError) else type(error).__name__
    message = error.message if isinstance(error, GuestError) else str(error)
    return clean_line(f"{name}: {message}" if message else name)


def _key(key: str) -> str:
    return key if _IDENTIFIER.match(key) else quote(key)


def _class_name(value: Any) -> str:
    match value:
        case Opaque():
            return clean_line(value.class_name)
        case JSMap():
            return "Map"
        case Mapping():
            return "Object" if all(isinstance(key, str) for key in value) else "Map"
        case Set():
            return "Set"
        case list() | tuple():
            return "Array"
        case ArrayBuffer():
            return "ArrayBuffer"
        case _:
            return _typed_array(value)[0]


def _typed_array(value: Any) -> tuple[str, Sequence[Any]]:
    """The JavaScript name and the items of whatever crosses as a typed array."""
    view = memoryview(value)
    name = TYPED_ARRAYS.get(view.format.lstrip("<>=@"), "TypedArray")
    return name, view if view.ndim == 1 else view.cast("B")


def _array_buffer(value: ArrayBuffer) -> Block:
    shown = " ".join(f"{byte:02x}" for byte in value[:50])
    more = f" ... {len(value) - 50} more bytes" if len(value) > 50 else ""
    fields = [Layout(f"[Uint8Contents]: <{shown}{more}>"), Layout(f"byteLength: {len(value)}")]
    return Block("ArrayBuffer ", "{}", fields)
