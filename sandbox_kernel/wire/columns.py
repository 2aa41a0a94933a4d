"""Columns: the wire form of trees of data, decoded many values at a time.

`C`, a number, and a JSON list of columns. A column lists values that belong in many places of the
tree; the first column has one value, which is the message. Each column has one kind:

    ["v", values] as in JSON     ["u", count] undefined     ["n", texts] numbers that JSON lacks
    ["f", attachment] numbers as float64, used where many are not whole
    ["b", hexes] bigints         ["d", milliseconds] Dates, null for an invalid one
    ["o", names, count, c]       objects with the same names; one column each, from c on
    ["k", sizes, names, c]       objects with names of their own; the values are in column c
    ["a", sizes, c] arrays       ["s", sizes, c] Sets       ["m", sizes, c] Maps: keys in c, values in c + 1
    ["+", choices, c, count]     each is the next value of one of the columns from c on
    ["r", numbers, c]            values of column c: objects that occur in more than one place

A column is used once, by a column before it. So columns are read from the last to the first, without
recursion, and nothing is cyclic. The number bounds how much memory they may take beyond their text; it
is known before anything is decoded.
"""

from __future__ import annotations

import re
from array import array
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice
from typing import Any, NamedTuple

from ..values import MAX_SAFE_INTEGER, JSMap, JSSet, undefined
from .frame import Buffer
from .scalars import (
    EPOCH,
    MILLISECOND,
    bigint_of,
    check_keys,
    date_of,
    fit_for_sets,
    index_below,
    number_of,
    take_attachment,
)
from .slices import BATCH, Steps, in_batches


class Cost(NamedTuple):
    """What one of each takes beyond its text, in units of `weight.UNIT`."""

    undefined: int = 1
    float: int = 1
    bigint: int = 6
    date: int = 8
    object: int = 8
    array: int = 8
    set: int = 15
    member: int = 5
    map: int = 16
    entry: int = 14


COST = Cost()  # bootstrap/columns.js has the same
_BIGINT_WORK = 100  # digits of a bigint that take as long to read as the rest of it
_NUMBER = re.compile("[0-9]{1,10}")
LINES = ("R", "L")  # the first letter of a line: report or log


def declared_size(text: str) -> int:
    """The number before the columns: how much they say that they make."""
    if not _NUMBER.fullmatch(text):
        raise ValueError("columns do not declare their size")
    return int(text)


def decode_columns(
    may_make: int, table: list[list[Any]], attachments: Sequence[Buffer], ordered: bool
) -> Steps:
    """The one value of the first column. Raises one of `decode`'s errors for malformed input.

    `ordered` decodes Sets as JSSet, because Python's sets do not keep their order.
    """
    return _Reader(may_make, attachments, ordered).value(table)


class _Reader:
    def __init__(self, may_make: int, attachments: Sequence[Buffer], ordered: bool) -> None:
        self._may_make = may_make
        self._attachments: list[Buffer | None] = list(attachments)
        self._ordered = ordered
        self._columns: list[list[Any] | None] = []

    def value(self, table: list[list[Any]]) -> Steps:
        self._columns = [None] * len(table)
        for at in reversed(range(len(table))):
            tag, *rest = table[at]
            values = yield from _reader(tag)(self, *rest)
            table[at] = _READ
            self._columns[at] = values
        (value,) = self._take(0)
        return value

    def _take(self, number: int) -> list[Any]:
        """A later column, which no other column may use."""
        values = self._columns[index_below(number, len(self._columns))]
        if values is None:
            raise ValueError(f"there is no unused column {number!r}")
        self._columns[number] = None
        return values

    def _make(self, count: int, cost: int) -> int:
        """Checks the declared size before anything is made."""
        if type(count) is not int or not 0 <= count * cost <= self._may_make:
            raise ValueError("columns take more memory than they declare")
        self._may_make -= count * cost
        return count

    def _values(self, values: list[Any]) -> Steps:
        if type(values) is not list:
            raise ValueError("the values are not a list")
        return values
        yield

    def _undefined(self, count: int) -> Steps:
        return [undefined] * self._make(count, COST.undefined)
        yield

    def _numbers(self, texts: list[str]) -> Steps:
        return _converted(texts, lambda some: map(number_of, some))

    def _floats(self, index: int) -> Steps:
        data = take_attachment(self._attachments, index)
        self._make(len(data) // 8, COST.float)
        floats = array("d")
        floats.frombytes(data)
        return _converted(floats, _exact_numbers)

    def _bigints(self, texts: list[str]) -> Steps:
        self._make(len(texts), COST.bigint)
        made: list[Any] = []
        work = 0
        for text in texts:
            made.append(bigint_of(text))
            work += _BIGINT_WORK + len(text)
            if work > _BIGINT_WORK * BATCH:
                work = 0
                yield
        return made

    def _dates(self, times: list[Any]) -> Steps:
        self._make(len(times), COST.date)
        return _converted(times, _moments)

    def _rows(self, names: list[str], count: int, first: int) -> Steps:
        columns = [self._take(number) for number in range(first, first + len(names))]
        if not set(map(len, columns)) <= {count}:
            raise ValueError("rows lack some of their values")
        yield from _checked_names(names)
        blank = dict.fromkeys(names, undefined)
        rows: list[dict[str, Any]] = []
        height = max(1, BATCH // max(1, len(names)))
        for start in range(0, self._make(count, COST.object), height):
            some = [blank.copy() for _ in range(min(height, count - start))]
            for name, values in zip(names, columns, strict=True):
                for row, value in zip(some, values[start : start + height], strict=True):
                    row[name] = value
            rows += some
            yield
        return rows

    def _objects(self, sizes: list[int], names: list[str], number: int) -> Steps:
        self._make(len(sizes), COST.object)
        yield from _checked_names(names)
        return (yield from _parts(dict, _pairs(names, self._take(number)), sizes, len(names)))

    def _arrays(self, sizes: list[int], number: int) -> Steps:
        self._make(len(sizes), COST.array)
        items = self._take(number)
        return _parts(list, items, sizes, len(items))

    def _sets(self, sizes: list[int], number: int) -> Steps:
        members = self._take(number)
        self._make(len(sizes), COST.set)
        self._make(len(members), COST.member)
        yield from _checked_keys(members)
        if self._ordered or not fit_for_sets(members, max(sizes, default=0)):
            return (yield from _parts(JSSet, members, sizes, len(members)))
        made = yield from _parts(set, members, sizes, len(members))
        if sum(map(len, made)) != len(members):  # 1 and true are equal in Python
            exact = yield from _parts(JSSet, members, sizes, len(members))
            made = [a if len(a) == len(b) else b for a, b in zip(made, exact, strict=True)]
        return made

    def _maps(self, sizes: list[int], number: int) -> Steps:
        keys, values = self._take(number), self._take(number + 1)
        self._make(len(sizes), COST.map)
        self._make(len(keys), COST.entry)
        yield from _checked_keys(keys)
        return (yield from _parts(JSMap, _pairs(keys, values), sizes, len(keys)))

    def _mixture(self, choices: list[int], first: int, count: int) -> Steps:
        columns = [self._take(number) for number in range(first, first + self._small(count))]
        following = [iter(column).__next__ for column in columns]
        if sum(map(len, columns)) != len(choices) or min(choices, default=0) < 0:
            raise ValueError("the choices do not match their columns")

        def chosen(some: Sequence[int]) -> list[Any]:
            try:
                return [following[choice]() for choice in some]
            except StopIteration:
                raise ValueError("the choices do not match their columns") from None

        return _converted(choices, chosen)

    def _shared(self, numbers: list[int], number: int) -> Steps:
        values = self._take(number)
        if min(numbers, default=0) < 0:
            raise ValueError("the number of a shared value is negative")
        return _converted(numbers, lambda some: [values[number] for number in some])

    def _small(self, count: int) -> int:
        if type(count) is not int or count > len(_READERS):
            raise ValueError("too many columns are mixed")
        return count


_READ: list[Any] = []
_READERS: dict[str, Callable[..., Steps]] = {
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


def _reader(tag: Any) -> Callable[..., Steps]:
    if type(tag) is not str or tag not in _READERS:
        raise ValueError("a column has an unknown kind")
    return _READERS[tag]


def _converted(items: Sequence[Any], convert: Callable[[Sequence[Any]], Iterable[Any]]) -> Steps:
    made: list[Any] = []
    for some in in_batches(items):
        made += convert(some)
        yield
    return made


def _exact_numbers(floats: Iterable[float]) -> list[Any]:
    """Whole numbers as int, as far as JavaScript's are exact."""
    return [
        int(x) if x.is_integer() and abs(x) <= MAX_SAFE_INTEGER and (x or str(x) == "0.0") else x
        for x in floats
    ]


def _moments(times: Sequence[Any]) -> list[Any]:
    try:
        return [EPOCH + MILLISECOND * time for time in times]
    except (OverflowError, TypeError):  # outside Python's range of years, or an invalid date
        return list(map(date_of, times))


def _checked_keys(keys: Sequence[Any]) -> Steps:
    for some in in_batches(keys):
        check_keys(some)
        yield


def _parts(make: type[Any], items: Iterable[Any], sizes: list[int], total: int) -> Steps:
    """Splits the items into containers of these sizes, which must use them all."""
    if sum(sizes) != total or min(sizes, default=0) < 0:
        raise ValueError("the sizes do not add up to the number of items")
    rest = iter(items)
    made: list[Any] = []
    for some in in_batches(sizes):
        if sum(some) <= BATCH * 2:
            made += [make(islice(rest, size)) for size in some]
            yield
        else:
            yield from _large_parts(make, rest, some, made)
    return made


def _large_parts(
    make: type[Any], rest: Iterator[Any], sizes: Sequence[int], made: list[Any]
) -> Steps:
    work = 0
    for size in sizes:
        made.append(make(islice(rest, min(size, BATCH))))
        work += size + 1
        for taken in range(BATCH, size, BATCH):
            yield
            _EXTEND[make](made[-1], islice(rest, min(size - taken, BATCH)))
        if work > BATCH:
            work = 0
            yield


_EXTEND: dict[type[Any], Callable[[Any, Iterable[Any]], None]] = {
    list: list.extend,
    dict: dict.update,
    set: set.update,
    JSSet: JSSet.update,
    JSMap: JSMap.update,
}


def _pairs(keys: list[Any], values: list[Any]) -> Iterable[tuple[Any, Any]]:
    if len(keys) != len(values):
        raise ValueError("there are not as many keys as values")
    return zip(keys, values, strict=True)


def _checked_names(names: list[Any]) -> Steps:
    for some in in_batches(names):
        if not set(map(type, some)) <= {str}:
            raise ValueError("a property name is not a string")
        yield
