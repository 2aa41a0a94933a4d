"""A cell's result as one output that stays small, however large the value is.

Records are a table, a small value of JSON is a tree that the front end draws, and anything else is
text, in a box that scrolls when it is tall.
"""

from __future__ import annotations

from collections.abc import Mapping, Set
from typing import Any

from ...budget import Budget
from ...values import Opaque
from .markup import Markup, element, join, text
from .outline import outline
from .output import says_all_in_json
from .render import show
from .table import Grid, are_records, grid, records_table
from .tree import closed_tree, open_tree

OPEN_NODES = 40  # a tree of JSON with so many is drawn open
_TALL = 20  # lines of text
_TEXT_LINES = 200
_ROWS = 50  # in a box that shows about a dozen of them
_TABLE = 30_000  # characters, markup included
_TREE = (20_000, 300)  # characters and entries
_INNER = 10  # entries of what is inside of a tree
_TREE_OF_RECORDS = (8_000, 120)
_FAINT = "opacity:.7;font-size:12px"
_BOX = (
    "overflow:auto;max-width:100%;max-height:26em;border:1px solid var(--jp-border-color2,#e0e0e0)"
)
_CODE = "font:13px/1.5 var(--jp-code-font-family,monospace);white-space:nowrap"
_CELL = "white-space:pre;text-align:"
# Both are words that MathJax knows; inside, it looks for nothing.
NO_MATH = "tex2jax_ignore mathjax_ignore"


def plain_result(value: Any) -> str:
    """The result as text: records as a table, else as consoles print it."""
    table = records_table(value, show)
    if table is not None:
        return table
    lines = show(value).split("\n")
    left = len(lines) - _TEXT_LINES
    if left <= 0:
        return "\n".join(lines)
    return "\n".join([*lines[:_TEXT_LINES], f"... {left:,} more line{'' if left == 1 else 's'}"])


def rich_result(value: Any, plain: str) -> dict[str, Any]:
    """What front ends show instead of the text, if something else is better. Never fails."""
    try:
        if are_records(value):
            return {"text/html": _records(value)}
        if says_all_in_json(value, OPEN_NODES):
            return {"application/json": value}
        if plain.count("\n") >= _TALL and _has_entries(value):
            return {"text/html": _tree(value)}
    except Exception:
        return {}  # the text says what is wrong
    return {}


def result_metadata(bundle: Mapping[str, Any]) -> dict[str, Any]:
    """How JupyterLab draws a tree: open, since it is a small one."""
    return {"application/json": {"expanded": True}} if "application/json" in bundle else {}


def result_bundle(value: Any) -> dict[str, Any]:
    """A result as a MIME bundle: always as text, and as what is better to look at."""
    plain = plain_result(value)
    return {"text/plain": plain, **rich_result(value, plain)}


def _has_entries(value: Any) -> bool:
    return isinstance(value, Mapping | Set | list | tuple | Opaque)


def _records(value: Any) -> Markup:
    cells = grid(value, show, max_rows=_ROWS, budget=Budget(_TABLE), bare=True)
    assert cells is not None  # records have rows
    parts = [element("div", html_table(cells), style=f"{_BOX};width:fit-content")]
    if cells.left:
        rows = f"… {cells.left:,} more row{'' if cells.left == 1 else 's'} of {len(value):,}"
        parts.append(element("div", text(rows), style=_FAINT))
    title = f"{len(value):,} row{'' if len(value) == 1 else 's'} as a tree"
    tree = closed_tree(title, outline(value, Budget(*_TREE_OF_RECORDS), _INNER))
    parts.append(element("div", tree, style=f"{_CODE};{_BOX};border:0"))
    return element("div", *parts, class_=NO_MATH)


def _tree(value: Any) -> Markup:
    tree = open_tree(outline(value, Budget(*_TREE), _INNER))
    return element("div", tree, style=f"{_CODE};{_BOX}", class_=NO_MATH)


def html_table(cells: Grid) -> Markup:
    """The cells as a table, numbers to the right; the first column is the rows' numbers."""
    head = element("tr", *_row("th", ["", *cells.header[1:]], cells.numeric))
    body = [element("tr", *_row("td", line, cells.numeric)) for line in cells.lines]
    return element(
        "table", element("thead", head), element("tbody", join(body)), style="margin:0;border:0"
    )


def _row(tag: Any, line: list[str], numeric: list[bool]) -> list[Markup]:
    styles = [_CELL + ("right" if each else "left") for each in numeric]
    first = element(tag, text(line[0]), style=f"{styles[0]};{_FAINT}")
    rest = zip(line[1:], styles[1:], strict=True)
    return [first, *(element(tag, text(cell), style=style) for cell, style in rest)]
