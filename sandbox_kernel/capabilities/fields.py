"""What a guest gave to be shown, as checked rows and texts. Nothing of it is markup."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Mapping, Sequence
from datetime import datetime
from html import escape
from itertools import accumulate, islice, takewhile
from typing import Any

from ..brief import brief
from ..clean import clean_line
from ..values import BigInt, Undefined
from ..width import display_width

MOST_ROWS = 1_000_000
_LONGEST_TEXT = 200

Row = Mapping[str, Any]


def text_of(value: Any, most: int = _LONGEST_TEXT) -> str:
    """A value in one harmless line of plain text."""
    if value is None or isinstance(value, Undefined):
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, datetime):
        midnight = not (value.hour or value.minute or value.second or value.microsecond)
        return f"{value:%Y-%m-%d}" if midnight else f"{value:%Y-%m-%d %H:%M:%S}"
    if isinstance(value, float):
        return number_text(value)
    text = value if isinstance(value, str) else brief(value, most)
    cut = text[: most + 1]
    return clean_line(cut if len(cut) <= most else cut[: most - 1] + "…")


def shortened(text: str, columns: int) -> str:
    """Without its middle if it is too wide: names that begin alike often end differently."""
    if display_width(text) <= columns:
        return text
    end = columns // 2
    return clean_line(f"{_fitting(text, columns - 1 - end)}…{_fitting(text[::-1], end)[::-1]}")


def _fitting(text: str, columns: int) -> str:
    """As much of its beginning."""
    widths = accumulate(map(display_width, text))
    return text[: sum(1 for _ in takewhile(lambda width: width <= columns, widths))]


def number_text(value: float) -> str:
    if not math.isfinite(value):
        return "NaN" if math.isnan(value) else "∞" if value > 0 else "-∞"
    return str(int(value)) if value.is_integer() and abs(value) < 1e15 else f"{value:.6g}"


def markup_of(text: str) -> str:
    """For a page or an SVG: nothing in it has a meaning there."""
    return escape(text.replace("\ufffe", "�").replace("\uffff", "�"), quote=True)


def given_text(options: Mapping[str, Any], name: str, what: str) -> str:
    value = options.get(name)
    if value is None or isinstance(value, Undefined):
        return ""
    if not isinstance(value, str):
        raise TypeError(f"{name} of {what} must be a text, not {type(value).__name__}")
    return text_of(value)


def given_options(options: Any, what: str, known: Sequence[str]) -> Mapping[str, Any]:
    if options is None:
        return {}
    if not isinstance(options, Mapping):
        raise TypeError(f"the options of {what} must be an object")
    for name in options:
        if name not in known:
            raise TypeError(
                f"{what} knows no option '{text_of(name, 40)}'; known: {', '.join(known)}"
            )
    return options


def rows_of(data: Any, what: str) -> Sequence[Row]:
    """Records, from an array of objects, of arrays or of plain values, or from an object of columns.

    Nothing is copied but what is looked at: rows that are shared may be many times the guest's memory.
    """
    if isinstance(data, Mapping):
        return _Columns(data, what)
    return [_row(item) for item in islice(_items(data, what), MOST_ROWS)]


def _items(data: Any, what: str) -> Collection[Any]:
    if isinstance(data, str | bytes) or not isinstance(data, Collection):
        raise TypeError(f"the data of {what} must be an array of rows, or an object of columns")
    return data


def _row(item: Any) -> Row:
    if isinstance(item, Mapping):
        return item
    if isinstance(item, list | tuple):
        return _Indexed(item)
    return {"value": item}


class _Indexed(Mapping[str, Any]):
    """An array as a row, whose fields are numbered."""

    def __init__(self, items: Sequence[Any]) -> None:
        self._items = items

    def __getitem__(self, name: str) -> Any:
        at = int(name) if name.isdecimal() and len(name) < 10 else -1
        if not 0 <= at < len(self._items) or str(at) != name:
            raise KeyError(name)
        return self._items[at]

    def __iter__(self) -> Iterator[str]:
        return map(str, range(len(self._items)))

    def __len__(self) -> int:
        return len(self._items)


class _Columns(Sequence[Row]):
    """An object of columns as rows."""

    def __init__(self, given: Mapping[Any, Any], what: str) -> None:
        columns = {name: _items(values, what) for name, values in given.items()}
        self._given = {name: columns[name] for name in columns if isinstance(name, str)}
        self._length = min(MOST_ROWS, max(map(len, self._given.values()), default=0))
        self._read: dict[str, Sequence[Any]] = {}

    def names(self, at: int) -> Iterator[str]:
        """Of the columns that are so long."""
        return (name for name, values in self._given.items() if at < len(values))

    def cell(self, name: str, at: int) -> Any:
        if name not in self._read:
            values = self._given[name]
            self._read[name] = values if isinstance(values, Sequence) else list(values)
        try:
            return self._read[name][at]
        except IndexError:
            raise KeyError(name) from None

    def __len__(self) -> int:
        return self._length

    def __getitem__(self, at: Any) -> Any:
        if isinstance(at, slice):
            return [self[each] for each in range(*at.indices(self._length))]
        if not 0 <= at < self._length:
            raise IndexError(at)
        return _Across(self, at)


class _Across(Mapping[str, Any]):
    """A row of columns."""

    __slots__ = ("_at", "_columns")

    def __init__(self, columns: _Columns, at: int) -> None:
        self._columns, self._at = columns, at

    def __getitem__(self, name: str) -> Any:
        return self._columns.cell(name, self._at)

    def __iter__(self) -> Iterator[str]:
        return self._columns.names(self._at)

    def __len__(self) -> int:
        return sum(1 for _ in self)


def is_number(value: Any) -> bool:
    return isinstance(value, int | float | BigInt) and not isinstance(value, bool)
