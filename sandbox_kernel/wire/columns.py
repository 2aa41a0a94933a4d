"""Columns: the wire form of trees of data, read many values at a time.

`C`, a number, and a JSON list of columns. A column is a list of values that stand in many places; the
first has one value, which is the message. Each column is of one kind:

    ["v", values] as in JSON     ["u", count] undefined     ["n", texts] numbers that JSON lacks
    ["f", attachment] numbers as float64, where many are no whole ones
    ["b", hexes] bigints         ["d", milliseconds] Dates, null for an invalid one
    ["o", names, count, c]       objects with the same names; one column each, from c on
    ["k", sizes, names, c]       objects with names of their own; the values are in column c
    ["a", sizes, c] arrays       ["s", sizes, c] Sets       ["m", sizes, c] Maps: keys in c, values in c + 1
    ["+", choices, c, count]     each the next value of one of the columns from c on
    ["r", numbers, c]            values of column c, which are objects in more than one place

A column is used once, and by one before it: so they are read from the last to the first, without
recursion, and nothing is cyclic. The number bounds what they may swell to: it is about what will be
made beyond what is spelled out, and is known before anything is decoded.
"""

from __future__ import annotations

import json
import re
from array import array
from collections.abc import Callable, Iterable, Sequence
from itertools import islice
from typing import Any

from ..values import MAX_SAFE_INTEGER, BigInt, JSMap, JSSet, undefined
from .frame import Buffer
from .scalars import (
    EPOCH,
    MILLISECOND,
    check_keys,
    date_of,
    fit_for_sets,
    index_below,
    take_attachment,
)

_UNIT = 30  # bytes
# What one of each takes in such units, beyond its text; bootstrap/columns.js has the same.
_UNDEFINED, _FLOAT, _DATE, _OBJECT, _ARRAY, _SET, _MEMBER, _MAP, _ENTRY = 1, 1, 2, 8, 3, 8, 3, 8, 4
_NUMBER = re.compile("[0-9]{1,10}")
_DECLARED = re.compile(rb"C([0-9]{1,10})\[")
_DECLARED_ON_A_LINE = re.compile(rb"^[RL]C([0-9]{1,10})\[", re.M)
LINES = ("R", "L")  # the letters before a value on a line


def swelling(text: bytes) -> int:
    """About how many bytes columns take beyond their text; they may stand on lines, too."""
    if alone := _DECLARED.match(text):
        return _UNIT * int(alone[1])
    if b"\n" not in text or b"C" not in text:
        return 0
    return _UNIT * sum(map(int, _DECLARED_ON_A_LINE.findall(text)))


def decode_columns(text: str, attachments: Sequence[Buffer], ordered: bool) -> Any:
    """The one value of the first column. Raises ValueError and its like for anything else.

    `ordered` keeps the order of Sets, which Python's do not.
    """
    declared, columns = text[: text.index("[")], text[text.index("[") :]
    if not _NUMBER.fullmatch(declared):
        raise ValueError("columns that do not say how much they make")
    return _Reader(int(declared), json.loads(columns), attachments, ordered).value


class _Reader:
    def __init__(
        self,
        may_make: int,
        table: list[list[Any]],
        attachments: Sequence[Buffer],
        ordered: bool,
    ) -> None:
        self._may_make = may_make
        self._attachments: list[Buffer | None] = list(attachments)
        self._ordered = ordered
        self._columns: list[list[Any] | None] = [None] * len(table)
        for at in reversed(range(len(table))):
            tag, *rest = table[at]
            values = _READERS[tag](self, *rest)
            table[at] = _READ
            self._columns[at] = values
        (self.value,) = self._take(0)

    def _take(self, number: int) -> list[Any]:
        """A column that came after this one, which nobody else may have."""
        values = self._columns[index_below(number, len(self._columns))]
        if values is None:
            raise ValueError(f"no such column: {number!r}")
        self._columns[number] = None
        return values

    def _make(self, count: int, cost: int) -> int:
        """Room for so many, before they are made."""
        if type(count) is not int or not 0 <= count * cost <= self._may_make:
            raise ValueError("columns that make more than they say")
        self._may_make -= count * cost
        return count

    def _values(self, values: list[Any]) -> list[Any]:
        if type(values) is not list:
            raise ValueError("values that are no list")
        return values

    def _undefined(self, count: int) -> list[Any]:
        return [undefined] * self._make(count, _UNDEFINED)

    def _numbers(self, texts: list[str]) -> list[Any]:
        return list(map(float, texts))

    def _floats(self, index: int) -> list[Any]:
        data = take_attachment(self._attachments, index)
        self._make(len(data) // 8, _FLOAT)
        floats = array("d")
        floats.frombytes(data)
        return [
            int(x)
            if x.is_integer() and abs(x) <= MAX_SAFE_INTEGER and (x or str(x) == "0.0")
            else x
            for x in floats
        ]

    def _bigints(self, texts: list[str]) -> list[Any]:
        return [BigInt(text, 16) for text in texts]

    def _dates(self, times: list[Any]) -> list[Any]:
        self._make(len(times), _DATE)
        try:
            return [EPOCH + MILLISECOND * time for time in times]
        except (OverflowError, TypeError):  # beyond Python's years, or none at all
            return list(map(date_of, times))

    def _rows(self, names: list[str], count: int, first: int) -> list[Any]:
        columns = [self._take(number) for number in range(first, first + len(names))]
        if not set(map(len, columns)) <= {count}:
            raise ValueError("rows without all their values")
        blank = dict.fromkeys(_all_text(names), undefined)
        rows = [blank.copy() for _ in range(self._make(count, _OBJECT))]
        for name, values in zip(names, columns, strict=True):
            for row, value in zip(rows, values, strict=True):
                row[name] = value
        return rows

    def _objects(self, sizes: list[int], names: list[str], number: int) -> list[Any]:
        self._make(len(sizes), _OBJECT)
        return _parts(dict, _pairs(_all_text(names), self._take(number)), sizes, len(names))

    def _arrays(self, sizes: list[int], number: int) -> list[Any]:
        self._make(len(sizes), _ARRAY)
        items = self._take(number)
        return _parts(list, items, sizes, len(items))

    def _sets(self, sizes: list[int], number: int) -> list[Any]:
        members = self._take(number)
        self._make(len(sizes), _SET)
        self._make(len(members), _MEMBER)
        check_keys(members)
        if self._ordered or not fit_for_sets(members, max(sizes, default=0)):
            return _parts(JSSet, members, sizes, len(members))
        made = _parts(set, members, sizes, len(members))
        if sum(map(len, made)) != len(members):  # 1 and true, which are one for Python
            exact = _parts(JSSet, members, sizes, len(members))
            made = [a if len(a) == len(b) else b for a, b in zip(made, exact, strict=True)]
        return made

    def _maps(self, sizes: list[int], number: int) -> list[Any]:
        keys, values = self._take(number), self._take(number + 1)
        self._make(len(sizes), _MAP)
        self._make(len(keys), _ENTRY)
        check_keys(keys)
        return _parts(JSMap, _pairs(keys, values), sizes, len(keys))

    def _mixture(self, choices: list[int], first: int, count: int) -> list[Any]:
        columns = [self._take(number) for number in range(first, first + self._small(count))]
        following = [iter(column).__next__ for column in columns]
        if sum(map(len, columns)) != len(choices) or min(choices, default=0) < 0:
            raise ValueError("choices that do not fit their columns")
        return [following[choice]() for choice in choices]

    def _shared(self, numbers: list[int], number: int) -> list[Any]:
        values = self._take(number)
        if min(numbers, default=0) < 0:
            raise ValueError("a value before the first")
        return [values[number] for number in numbers]

    def _small(self, count: int) -> int:
        if type(count) is not int or count > len(_READERS):
            raise ValueError("too many kinds")
        return count


_READ: list[Any] = []
_READERS: dict[str, Callable[..., list[Any]]] = {
    "v": _Reader._values,
    "u": _Reader._undefined,
    "n": _Reader._numbers,
    "f": _Reader._floats,
    "b": _Reader._bigints,
    "d": _Reader._dates,
    "o": _Reader._rows,
    "k": _Reader._objects,
    "a": _Reader._arrays,
    "s": _Reader._sets,
    "m": _Reader._maps,
    "+": _Reader._mixture,
    "r": _Reader._shared,
}


def _parts(
    make: Callable[[Iterable[Any]], Any], items: Iterable[Any], sizes: list[int], total: int
) -> list[Any]:
    """Containers of such sizes, one after the other, that take all the items."""
    if sum(sizes) != total:
        raise ValueError("sizes that do not fit their items")
    rest = iter(items)
    return [make(islice(rest, size)) for size in sizes]


def _pairs(keys: list[Any], values: list[Any]) -> Iterable[tuple[Any, Any]]:
    if len(keys) != len(values):
        raise ValueError("keys without values")
    return zip(keys, values, strict=True)


def _all_text(names: list[Any]) -> list[str]:
    if not set(map(type, names)) <= {str}:
        raise ValueError("names that are no text")
    return names
