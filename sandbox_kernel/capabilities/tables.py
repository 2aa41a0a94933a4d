"""Tables: rows of a guest's as HTML that the host writes, every cell escaped."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice
from typing import Any

from ..loans import Display
from ..values import Undefined
from ..width import display_width
from .fields import Row, given_options, given_text, is_number, markup_of, rows_of, text_of

MOST_ROWS, MOST_COLUMNS = 100, 20
_LOOKED_AT = 1_000  # rows, for the names of columns
_MOST_NAMES = 1_000  # of columns, that are counted
_LONGEST_CELL = 200


def table_display(data: Any = None, options: Any = None) -> Display:
    given = given_options(options, "table", ("columns", "title"))
    rows = rows_of(data, "table")
    names = _names(rows, given.get("columns"))
    title = given_text(given, "title", "table")
    shown, head = rows[:MOST_ROWS], names[:MOST_COLUMNS]
    cells = [[text_of(row.get(name), _LONGEST_CELL) for name in head] for row in shown]
    right = [
        all(is_number(row[name]) for row in shown if row.get(name) is not None) for name in head
    ]
    labels = [text_of(name, 60) for name in head]
    note = _note(len(rows), len(names))
    return {
        "text/html": _html(title, labels, cells, right, note),
        "text/plain": _plain(title, labels, cells, right, note),
    }


def _names(rows: Sequence[Row], columns: Any) -> list[str]:
    if columns is not None and not isinstance(columns, Undefined):
        if not isinstance(columns, list) or not all(isinstance(each, str) for each in columns):
            raise TypeError("columns of table must be an array of names")
        return columns
    found: dict[str, None] = {}
    for row in islice(rows, _LOOKED_AT):
        for name in islice(row, _MOST_NAMES):
            if isinstance(name, str):  # a Map may have any keys
                found[name] = None
        if len(found) >= _MOST_NAMES:
            break
    return list(found)[:_MOST_NAMES]


def _note(rows: int, columns: int) -> str:
    if rows <= MOST_ROWS and columns <= MOST_COLUMNS:
        return ""
    of_rows = f"{MOST_ROWS} of {rows:,} rows" if rows > MOST_ROWS else f"{rows:,} rows"
    many = f"{columns:,} or more" if columns == _MOST_NAMES else f"{columns:,}"
    of_columns = f"{MOST_COLUMNS} of {many} columns" if columns > MOST_COLUMNS else ""
    return ", ".join(filter(None, (of_rows, of_columns)))


def _html(
    title: str, labels: list[str], cells: list[list[str]], right: list[bool], note: str
) -> str:
    aligned = [
        ' style="text-align: right"' if each else ' style="text-align: left"' for each in right
    ]
    head = "".join(
        f"<th{a}>{markup_of(label)}</th>" for a, label in zip(aligned, labels, strict=True)
    )
    body = "".join(
        "<tr>"
        + "".join(f"<td{a}>{markup_of(cell)}</td>" for a, cell in zip(aligned, row, strict=True))
        + "</tr>"
        for row in cells
    )
    caption = f"<caption>{markup_of(title)}</caption>" if title else ""
    table = f"<table>{caption}<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
    return f"<div>{table}<p>{note}</p></div>" if note else f"<div>{table}</div>"


def _plain(
    title: str, labels: list[str], cells: list[list[str]], right: list[bool], note: str
) -> str:
    widths = [max(display_width(row[at]) for row in (labels, *cells)) for at in range(len(labels))]
    lines = [_line(row, widths, right) for row in (labels, *cells)]
    return "\n".join(filter(None, (title, *lines, note)))


def _line(row: list[str], widths: list[int], right: list[bool]) -> str:
    parts = []
    for cell, width, is_right in zip(row, widths, right, strict=True):
        blanks = " " * (width - display_width(cell))
        parts.append(blanks + cell if is_right else cell + blanks)
    return "  ".join(parts).rstrip()
