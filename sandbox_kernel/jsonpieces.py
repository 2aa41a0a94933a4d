"""The text of large JSON, made in pieces.

`json.dumps` keeps every thread of the process waiting until it is done, which for a guest's value may be
seconds. Here no piece takes more than a moment, and binary data does not become a list as a whole.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Mapping
from typing import Any

from .jsonable import BUFFERS, JSONSpeller, to_jsonable

_AT_ONCE = 4_000  # values in one piece
_CHARACTERS_AT_ONCE = 50_000
_CHARACTERS_PER_VALUE = _CHARACTERS_AT_ONCE // _AT_ONCE


def json_pieces(value: Any) -> Iterator[str]:
    """What `json.dumps` gives for plain JSON, in which there may be binary data."""
    if _is_small(value):
        yield _text(value)
    elif isinstance(value, str):
        yield '"'
        for at in range(0, len(value), _CHARACTERS_AT_ONCE):
            yield json.dumps(value[at : at + _CHARACTERS_AT_ONCE])[1:-1]
        yield '"'
    elif isinstance(value, dict):
        yield "{"
        yield from _entries(list(value.items()))
        yield "}"
    else:
        yield "["
        yield from _items(value)
        yield "]"


def json_within(value: Any, most: int) -> str | None:
    """The JSON of any value; None if it has more than `most` characters, which is found out soon."""
    if not _is_small(value, most // 2):  # each value takes two at least
        return None
    made: list[str] = []
    for piece in json_pieces(JSONSpeller(keeps_buffers=True).spell(value)):
        made.append(piece)
        most -= len(piece)
        if most < 0:
            return None
    return "".join(made)


def _items(items: Any) -> Iterator[str]:
    """Of a list or of binary data, by halves until they are small."""
    if _is_small(items):
        yield _text(items)[1:-1]
    elif len(items) == 1:
        yield from json_pieces(items[0])
    else:
        middle = len(items) // 2
        yield from _items(items[:middle])
        yield ", "
        yield from _items(items[middle:])


def _entries(entries: list[tuple[str, Any]]) -> Iterator[str]:
    if len(entries) == 1:
        ((name, value),) = entries
        yield from json_pieces(name)
        yield ": "
        yield from json_pieces(value)
    elif _is_small(part := dict(entries[:_AT_ONCE])) and len(part) == len(entries):
        yield _text(part)[1:-1]
    else:
        middle = len(entries) // 2
        yield from _entries(entries[:middle])
        yield ", "
        yield from _entries(entries[middle:])


def _text(value: Any) -> str:
    return json.dumps(value, default=_of_buffer)


def _of_buffer(value: Any) -> list[Any]:
    found: list[Any] = to_jsonable(value)
    return found


def _is_small(value: Any, room: int = _AT_ONCE) -> bool:
    """Whether there are so few values in it that they can be written at once."""
    waiting, met = [value], set[int]()
    while waiting:
        item = waiting.pop()
        room -= 1
        if isinstance(item, str):
            room -= len(item) // _CHARACTERS_PER_VALUE
        elif isinstance(item, BUFFERS):
            room -= len(item)
        elif isinstance(item, Collection) and id(item) not in met:
            met.add(id(item))  # what is met again is spelled again, or named, by whoever spells it
            if len(item) > room:
                return False
            waiting.extend(item)
            if isinstance(item, Mapping):
                waiting.extend(item.values())
        if room < 0:
            return False
    return True
