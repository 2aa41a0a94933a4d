"""`console.table`, and arrays of flat records as tables; drawn with lines, as consoles do."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Mapping, Sequence
from itertools import accumulate
from typing import Any

from ...values import JSMap, Opaque
from .clean import clean_line

MAX_ROWS = 1000
_MAX_RESULT_ROWS = 100
_MAX_COLUMNS = 50
_MAX_CELL = 200
_MAX_WIDTH = 100  # what a notebook has room for; a wider table would be folded
_MIN_WIDTH = 8  # of a column that is cut
_INDEX = "(index)"
_VALUES = "Values"

Show = Callable[[Any, int], str]


def text_table(
    value: Any, show: Show, only: list[str] | None = None, max_rows: int = MAX_ROWS
) -> str | None:
    """The table of an array or object; None if the value has no rows (a number, an empty array)."""
    rows = _rows(value)
    if not rows:
        return None
    columns, has_values = _columns([row for _, row in rows])
    columns = columns if only is None else only[:_MAX_COLUMNS]
    header = [_INDEX, *columns, *([_VALUES] if has_values else [])]
    lines = [
        [index, *(_cell(row, column, show) for column in columns),
         *([_whole(row, show)] if has_values else [])]
        for index, row in rows[:max_rows]
    ]  # fmt: skip
    drawn = _draw([[_fit(cell) for cell in line] for line in [header, *lines]])
    left = len(rows) - max_rows
    return drawn if left <= 0 else f"{drawn}\n... {left} more rows"


def records_table(value: Any, show: Show) -> str | None:
    """The table of an array of flat records, which a result shows besides; else None."""
    return text_table(value, show, max_rows=_MAX_RESULT_ROWS) if are_records(value) else None


def are_records(value: Any) -> bool:
    """An array of flat records, at least one."""
    if not isinstance(value, list | tuple) or not value:
        return False
    return all(is_flat_record(row) for row in value)


def is_flat_record(value: Any) -> bool:
    """A plain object with fields, none of which holds a structure."""
    return (
        isinstance(value, Mapping)
        and not isinstance(value, JSMap)
        and 0 < len(value) <= _MAX_COLUMNS
        and all(isinstance(key, str) and not _is_row(item) for key, item in value.items())
    )


def _is_row(value: Any) -> bool:
    return isinstance(value, Mapping | list | tuple) or (
        isinstance(value, Opaque) and value.fields is not None
    )


def _rows(value: Any) -> list[tuple[str, Any]]:
    if isinstance(value, Opaque):
        value = value.fields
    if isinstance(value, Mapping):
        return [(key if isinstance(key, str) else str(key), row) for key, row in value.items()]
    if isinstance(value, Sequence) and not isinstance(value, str | bytes):
        return [(str(index), row) for index, row in enumerate(value)]
    return []


def _fields(row: Any) -> Mapping[str, Any]:
    if isinstance(row, Opaque):
        return row.fields or {}
    if isinstance(row, Mapping):
        return row
    return {str(index): item for index, item in enumerate(row)}


def _columns(rows: Sequence[Any]) -> tuple[list[str], bool]:
    """The union of the rows' keys in order of appearance, and whether some row is not a structure."""
    names: dict[str, None] = {}
    for row in rows[:MAX_ROWS]:
        if _is_row(row):
            names.update((str(key), None) for key in _fields(row))
    return list(names)[:_MAX_COLUMNS], any(not _is_row(row) for row in rows)


def _cell(row: Any, column: str, show: Show) -> str:
    if not _is_row(row):
        return ""
    fields = _fields(row)
    return show(fields[column], 0) if column in fields else ""


def _whole(row: Any, show: Show) -> str:
    return "" if _is_row(row) else show(row, 0)


def _fit(cell: str) -> str:
    line = clean_line(cell)
    return line if len(line) <= _MAX_CELL else line[: _MAX_CELL - 1] + "…"


def _draw(lines: Sequence[Sequence[str]]) -> str:
    widths = _narrowed(
        [max(display_width(cell) for cell in column) for column in zip(*lines, strict=True)]
    )
    rule = ["─" * (width + 2) for width in widths]
    drawn = [_line(line, widths) for line in lines]
    top, middle, bottom = (
        f"{left}{joint.join(rule)}{right}" for left, joint, right in ("┌┬┐", "├┼┤", "└┴┘")
    )
    return "\n".join([top, drawn[0], middle, *drawn[1:], bottom])


def _narrowed(widths: list[int]) -> list[int]:
    """The widest columns cut alike until the table fits; as they are if that cannot be."""
    room = _MAX_WIDTH - 3 * len(widths) - 1
    for most in range(max(widths), _MIN_WIDTH - 1, -1):
        if sum(min(width, most) for width in widths) <= room:
            return [min(width, most) for width in widths]
    return widths


def _line(cells: Sequence[str], widths: Sequence[int]) -> str:
    padded = (f" {_padded(cell, width)} " for cell, width in zip(cells, widths, strict=True))
    return f"│{'│'.join(padded)}│"


def _padded(cell: str, width: int) -> str:
    """Exactly so wide, with an ellipsis where something had to go."""
    if display_width(cell) > width:
        reached = accumulate(map(display_width, cell))
        cell = "".join(c for c, end in zip(cell, reached, strict=True) if end < width) + "…"
    return cell + " " * (width - display_width(cell))


def display_width(text: str) -> int:
    """Columns on a screen: two for wide characters, none for combining marks."""
    if text.isascii():
        return len(text)
    return sum(
        0 if unicodedata.combining(c) else 2 if unicodedata.east_asian_width(c) in "WF" else 1
        for c in text
    )
