"""`console.table`, and arrays of flat records as tables; drawn with lines, as consoles do."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import accumulate, islice
from typing import Any

from ...budget import Budget, clipped
from ...clean import clean_line, is_plain, trimmed
from ...values import MAX_SAFE_INTEGER, JSMap, Opaque
from ...width import display_width

MAX_ROWS = 1000
_MAX_RESULT_ROWS = 100
_MAX_COLUMNS = 50
_MAX_CELL = 200
_MAX_WIDTH = 100  # what a notebook has room for; a wider table would be folded
_MIN_WIDTH = 8  # of a column that is cut
_CELL_WORK = 120  # for one cell; its drawing counts besides
_INDEX = "(index)"
_VALUES = "Values"

Show = Callable[[Any, int, Budget], str]


def text_table(
    value: Any,
    show: Show,
    only: list[str] | None = None,
    max_rows: int = MAX_ROWS,
    budget: Budget | None = None,
) -> str | None:
    """The table of an array or object; None if the value has no rows (a number, an empty array)."""
    budget = budget or Budget()
    most = budget.characters
    count, rows = _rows(value)
    if not count:
        return None
    table = _Table(list(islice(rows, max_rows)), show, budget)
    drawn, shown = _draw(*table.lines(only), most)
    left = count - shown
    return drawn if left <= 0 else f"{drawn}\n... {left} more rows"


def records_table(value: Any, show: Show) -> str | None:
    """The table of an array of flat records, which a result shows besides; else None.

    Never fails: the result itself says what is wrong with it.
    """
    try:
        return text_table(value, show, max_rows=_MAX_RESULT_ROWS) if are_records(value) else None
    except Exception:
        return None


def are_records(value: Any) -> bool:
    """An array of flat records, at least one; of a very long one only the beginning is looked at."""
    if not isinstance(value, list | tuple) or not value:
        return False
    return all(is_flat_record(row) for row in islice(value, MAX_ROWS))


def is_flat_record(value: Any) -> bool:
    """A plain object with fields, none of which holds a structure."""
    return (
        isinstance(value, Mapping)
        and not isinstance(value, JSMap)
        and 0 < len(value) <= _MAX_COLUMNS
        and all(isinstance(key, str) and not _is_row(item) for key, item in value.items())
    )


def _is_row(value: Any) -> bool:
    if isinstance(value, str | int | float):
        return False  # the most frequent ones; asking for a Mapping is slow
    return isinstance(value, Mapping | list | tuple) or (
        isinstance(value, Opaque) and value.fields is not None
    )


def _rows(value: Any) -> tuple[int, Iterable[tuple[Any, Any]]]:
    """How many there are, and each with its key."""
    if isinstance(value, Opaque):
        value = value.fields
    if isinstance(value, Mapping):
        return len(value), value.items()
    if isinstance(value, Sequence) and not isinstance(value, str | bytes):
        return len(value), enumerate(value)
    return 0, ()


class _Table:
    """The cells of a table as texts, as many of them as the budget has room for."""

    def __init__(self, rows: list[tuple[Any, Any]], show: Show, budget: Budget) -> None:
        self._rows = rows
        self._show = show
        self._budget = budget

    def lines(self, only: list[str] | None) -> tuple[list[str], list[list[str]]]:
        """The header, and a list of cells for each row."""
        columns = self._columns() if only is None else {name: name for name in only[:_MAX_COLUMNS]}
        has_values = any(not _is_row(row) for _, row in self._rows)
        header = [_INDEX, *columns, *([_VALUES] if has_values else [])]
        lines: list[list[str]] = []
        for key, row in self._rows:
            if lines and self._budget.spent:
                break
            cells = self._cells(row, columns.values())
            lines.append([self._name(key), *cells, *(self._whole(row) if has_values else ())])
        return [_fit(name) for name in header], lines

    def _columns(self) -> dict[str, Any]:
        """The rows' keys by name, in order of appearance."""
        columns: dict[str, Any] = {}
        for _, row in self._rows:
            if not _is_row(row):
                continue
            for key in _keys(row):
                if len(columns) >= _MAX_COLUMNS:
                    return columns
                if not (isinstance(key, str) and key in columns):
                    columns.setdefault(self._name(key), key)
        return columns

    def _cells(self, row: Any, keys: Iterable[Any]) -> list[str]:
        if not _is_row(row):
            return ["" for _ in keys]
        return [self._cell(*found) if (found := _field(row, key)) else "" for key in keys]

    def _whole(self, row: Any) -> list[str]:
        return [""] if _is_row(row) else [self._cell(row)]

    def _cell(self, value: Any) -> str:
        """Fitting and drawing it is work, too; wide characters have to be measured one by one."""
        simple = _simple(value)
        if simple is not None:
            self._budget.spend(len(simple) + 3)
            return simple
        part = self._budget.part(4 * _MAX_CELL, _CELL_WORK)
        had = part.work
        text = _fit(self._show(value, 0, part))
        drawing = 1 if text[:-1].isascii() else len(text) // 2
        self._budget.spend(3, drawing + (had - part.work) // 2)
        return text

    def _name(self, key: Any) -> str:
        return _fit(key) if isinstance(key, str) else self._cell(key)


def _simple(value: Any) -> str | None:
    """The text of what most tables are full of, found faster."""
    if type(value) is int:
        return str(value) if -MAX_SAFE_INTEGER <= value <= MAX_SAFE_INTEGER else None
    if type(value) is str and len(value) < _MAX_CELL - 2 and is_plain(value):
        return f"'{value}'"
    return None


def _keys(row: Any) -> Iterable[Any]:
    """At most as many as there are columns: no row is longer than what is shown of it."""
    if isinstance(row, Opaque):
        row = row.fields or {}
    if isinstance(row, Mapping):
        return islice(row, _MAX_COLUMNS)
    return range(min(len(row), _MAX_COLUMNS))


def _field(row: Any, key: Any) -> tuple[Any] | None:
    """What a row has under a key, if anything; names of columns find the items of an array."""
    if isinstance(row, Opaque):
        row = row.fields or {}
    if isinstance(row, Mapping):
        fits = isinstance(key, str) or isinstance(row, JSMap)
        return (row[key],) if fits and key in row else None
    index = int(key) if isinstance(key, str) and key.isdecimal() and len(key) < 10 else key
    return (row[index],) if type(index) is int and index < len(row) else None


def _fit(cell: str) -> str:
    line = clean_line(clipped(cell, 4 * _MAX_CELL))
    return line if len(line) <= _MAX_CELL else trimmed(line[: _MAX_CELL - 1]) + "…"


def _draw(header: list[str], lines: list[list[str]], most: int) -> tuple[str, int]:
    """The table, and how many of its rows are in it."""
    widths = _narrowed(
        [max(map(display_width, column)) for column in zip(header, *lines, strict=True)]
    )
    rule = ["─" * (width + 2) for width in widths]
    fitting = lines[: max(1, most // (sum(widths) + 3 * len(widths) + 2) - 4)]
    drawn = [_line(line, widths) for line in fitting]
    top, middle, bottom = (
        f"{left}{joint.join(rule)}{right}" for left, joint, right in ("┌┬┐", "├┼┤", "└┴┘")
    )
    return "\n".join([top, _line(header, widths), middle, *drawn, bottom]), len(fitting)


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
        kept = "".join(c for c, end in zip(cell, reached, strict=True) if end < width)
        cell = trimmed(kept) + "…"
    return cell + " " * (width - display_width(cell))
