"""What a guest gave to be shown, as checked rows and texts. Nothing of it is markup."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
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


def rows_of(data: Any, what: str) -> list[Row]:
    """Records, from an array of objects, of arrays or of plain values, or from an object of columns."""
    if isinstance(data, Mapping):
        columns = {
            str(name): list(islice(_items(values, what), MOST_ROWS))
            for name, values in data.items()
        }
        length = max(map(len, columns.values()), default=0)
        return [
            {name: values[at] for name, values in columns.items() if at < len(values)}
            for at in range(length)
        ]
    return [_row(item) for item in islice(_items(data, what), MOST_ROWS)]


def _items(data: Any, what: str) -> Any:
    if isinstance(data, str | bytes) or not hasattr(data, "__iter__"):
        raise TypeError(f"the data of {what} must be an array of rows, or an object of columns")
    return data


def _row(item: Any) -> Row:
    if isinstance(item, Mapping):
        return item
    if isinstance(item, list | tuple):
        return {str(at): value for at, value in enumerate(item)}
    return {"value": item}


def is_number(value: Any) -> bool:
    return isinstance(value, int | float | BigInt) and not isinstance(value, bool)
