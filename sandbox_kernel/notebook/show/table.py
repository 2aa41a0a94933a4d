"""`console.table`, and arrays of flat records as tables; drawn with lines, as consoles do."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate, islice
from typing import Any

from ...budget import Budget, clipped
from ...clean import clean_line, is_plain, trimmed
from ...values import MAX_SAFE_INTEGER, JSMap, Opaque, Undefined
from ...width import display_width

MAX_ROWS = 1000
_LOOKED_AT = 100  # rows; more than a result shows
_RESULT_ROWS = 20
_MAX_COLUMNS = 50
_MOST_NAMED = 500  # keys that are spelled to find the columns
_MAX_CELL = 200
_MAX_WIDTH = 100  # what a notebook has room for; a wider table would be folded
_MIN_WIDTH = 8  # of a column that is cut
_MARKUP = 50  # characters around a cell without quotes, which is one of a page
_CELL_WORK = 120  # for one cell; its drawing counts besides
_INDEX = "(index)"
_VALUES = "Values"

Show = Callable[[Any, int, Budget], str]


@dataclass(frozen=True, slots=True)
class Grid:
    """A table as texts: the header, the rows that are shown, how many are not, and which columns
    hold numbers, to be aligned right."""

    header: list[str]
    lines: list[list[str]]
    left: int
    numeric: list[bool]


def grid(
    value: Any,
    show: Show,
    only: list[str] | None = None,
    max_rows: int = MAX_ROWS,
    budget: Budget | None = None,
    *,
    bare: bool = False,
) -> Grid | None:
    """The cells of an array or object; None if the value has no rows (a number, an empty array).

    With `bare`, strings stand without quotes.
    """
    count, rows = _rows(value)
    if not count:
        return None
    table = _Table(list(islice(rows, max_rows)), show, budget or Budget(), bare)
    header, lines, numeric = table.lines(only)
    return Grid(header, lines, count - len(lines), numeric)


def text_table(
    value: Any,
    show: Show,
    only: list[str] | None = None,
    max_rows: int = MAX_ROWS,
    budget: Budget | None = None,
) -> str | None:
    """The table drawn with lines; None if the value has no rows."""
    budget = budget or Budget()
    most = budget.characters
    cells = grid(value, show, only, max_rows, budget)
    if cells is None:
        return None
    drawn, shown = _draw(cells, most)
    left = cells.left + len(cells.lines) - shown
    return drawn if left <= 0 else f"{drawn}\n... {left:,} more row{'' if left == 1 else 's'}"


def records_table(value: Any, show: Show) -> str | None:
    """The beginning of an array of records, drawn as a table; None for anything else.

    Never fails: the result itself says what is wrong with it.
    """
    try:
        return text_table(value, show, max_rows=_RESULT_ROWS) if are_records(value) else None
    except Exception:
        return None


def are_records(value: Any) -> bool:
    """An array of records, at least one; of a very long one only the beginning is looked at."""
    if not isinstance(value, list | tuple) or not value:
        return False
    return all(_is_record(row) for row in islice(value, _LOOKED_AT))


def _is_record(value: Any) -> bool:
    """A plain object with fields, none of which holds another object; arrays fit into a cell."""
    return (
        isinstance(value, Mapping)
        and not isinstance(value, JSMap)
        and 0 < len(value) <= _MAX_COLUMNS
        and all(isinstance(key, str) and not _is_object(item) for key, item in value.items())
    )


def _is_row(value: Any) -> bool:
    return isinstance(value, list | tuple) or _is_object(value)


def _is_object(value: Any) -> bool:
    if isinstance(value, str | int | float):
        return False  # the most frequent ones; asking for a Mapping is slow
    return isinstance(value, Mapping) or (isinstance(value, Opaque) and value.fields is not None)


def _are_numbers(values: list[Any]) -> bool:
    """Numbers, and gaps between them."""
    kinds = {_kind(value) for value in values}
    return "number" in kinds and "other" not in kinds


def _kind(value: Any) -> str:
    if isinstance(value, int | float) and not isinstance(value, bool):
        return "number"
    return "gap" if value is None or isinstance(value, Undefined) else "other"


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

    def __init__(self, rows: list[tuple[Any, Any]], show: Show, budget: Budget, bare: bool) -> None:
        self._rows = rows
        self._show = show
        self._budget = budget
        self._bare = bare
        self._around = _MARKUP if bare else 3  # characters of a cell besides its text

    def lines(self, only: list[str] | None) -> tuple[list[str], list[list[str]], list[bool]]:
        """The header, a list of cells for each row, and which columns hold numbers."""
        columns = self._columns() if only is None else {name: name for name in only[:_MAX_COLUMNS]}
        has_values = any(not _is_row(row) for _, row in self._rows)
        header = [_INDEX, *columns, *([_VALUES] if has_values else [])]
        lines: list[list[str]] = []
        for key, row in self._rows:
            if lines and self._budget.spent:
                break
            cells = self._cells(row, columns.values())
            lines.append([self._name(key), *cells, *(self._whole(row) if has_values else ())])
        numeric = self._numeric(len(lines), columns.values())
        return [_fit(name) for name in header], lines, numeric[: len(header)]

    def _numeric(self, count: int, keys: Iterable[Any]) -> list[bool]:
        """For the index, each column and the plain values: whether it holds numbers."""
        shown = self._rows[:count]
        rows = [row for _, row in shown if _is_row(row)]
        fields = ([found[0] for row in rows if (found := _field(row, key))] for key in keys)
        plain = [row for _, row in shown if not _is_row(row)]
        return [_are_numbers([key for key, _ in shown]), *map(_are_numbers, fields),
                _are_numbers(plain)]  # fmt: skip

    def _columns(self) -> dict[str, Any]:
        """The rows' keys by name, in order of appearance. Many keys may have the same name, once cut."""
        columns: dict[str, Any] = {}
        seen = set[str | int]()
        named = 0
        for _, row in self._rows:
            if not _is_row(row):
                continue
            for key in _keys(row):
                if len(columns) >= _MAX_COLUMNS or named >= _MOST_NAMED:
                    return columns
                if type(key) is int or isinstance(key, str):
                    if key in seen:
                        continue
                    seen.add(key)
                named += 1
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
        simple = _simple(value, self._bare)
        if simple is not None:
            self._budget.spend(len(simple) + self._around)
            return simple
        if self._bare and isinstance(value, str):
            text = _fit(value)
            self._budget.spend(len(text) + self._around, 1 + len(text) // 20)
            return text
        part = self._budget.part(4 * _MAX_CELL, _CELL_WORK)
        had = part.work
        text = _fit(self._show(value, 0, part))
        drawing = 1 if text[:-1].isascii() else len(text) // 2
        self._budget.spend(self._around, drawing + (had - part.work) // 2)
        return text

    def _name(self, key: Any) -> str:
        return _fit(key) if isinstance(key, str) else self._cell(key)


def _simple(value: Any, bare: bool) -> str | None:
    """The text of what most tables are full of, found faster."""
    if type(value) is int:
        return str(value) if -MAX_SAFE_INTEGER <= value <= MAX_SAFE_INTEGER else None
    if type(value) is str and len(value) < _MAX_CELL - 2 and is_plain(value):
        return value if bare else f"'{value}'"
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


def _draw(cells: Grid, most: int) -> tuple[str, int]:
    """The table, and how many of its rows are in it."""
    widths = _narrowed(
        [max(map(display_width, column)) for column in zip(cells.header, *cells.lines, strict=True)]
    )
    rule = ["─" * (width + 2) for width in widths]
    fitting = cells.lines[: max(1, most // (sum(widths) + 3 * len(widths) + 2) - 4)]
    header, *drawn = (_line(line, widths, cells.numeric) for line in [cells.header, *fitting])
    top, middle, bottom = (
        f"{left}{joint.join(rule)}{right}" for left, joint, right in ("┌┬┐", "├┼┤", "└┴┘")
    )
    return "\n".join([top, header, middle, *drawn, bottom]), len(fitting)


def _narrowed(widths: list[int]) -> list[int]:
    """The widest columns cut alike until the table fits; as they are if that cannot be."""
    room = _MAX_WIDTH - 3 * len(widths) - 1
    for most in range(max(widths), _MIN_WIDTH - 1, -1):
        if sum(min(width, most) for width in widths) <= room:
            return [min(width, most) for width in widths]
    return widths


def _line(cells: Sequence[str], widths: Sequence[int], numeric: Sequence[bool]) -> str:
    columns = zip(cells, widths, numeric, strict=True)
    padded = (f" {_padded(cell, width, to_the_right)} " for cell, width, to_the_right in columns)
    return f"│{'│'.join(padded)}│"


def _padded(cell: str, width: int, to_the_right: bool) -> str:
    """Exactly so wide, with an ellipsis where something had to go."""
    if display_width(cell) > width:
        reached = accumulate(map(display_width, cell))
        kept = "".join(c for c, end in zip(cell, reached, strict=True) if end < width)
        cell = trimmed(kept) + "…"
    padding = " " * (width - display_width(cell))
    return padding + cell if to_the_right else cell + padding
