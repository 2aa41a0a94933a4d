"""An outline as HTML: a tree that opens without a script, one line for each entry."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ...budget import clipped
from ...clean import clean_line
from .markup import Markup, element, text

_PREVIEW = 100  # characters of what is inside a closed entry
_LEAF = 300
_ENTRIES = 6  # of a structure inside a preview
_INDENT = "padding-left:1.4em"
_NO_MARKER = "padding-left:1.1em"  # in line with those that open
_MARKS = {"object": ": ", "map": " => "}


def open_tree(outline: list[Any]) -> Markup:
    """The outline's own entries are seen at once."""
    return _branch(preview(outline), outline, is_open=True)


def closed_tree(title: str, outline: list[Any]) -> Markup:
    """Only the title is seen."""
    return _branch(title, outline, is_open=False)


def _branch(title: str, outline: list[Any], *, is_open: bool) -> Markup:
    if _is_leaf(outline):
        return element("div", text(_leaf(outline)))
    kind, _, entries, left = outline
    head = element("summary", text(title))
    inside = [_entry(key, each, kind) for key, each in entries]
    if left > 0:
        inside.append(element("div", text(f"… {left:,} more")))
    body = element("div", *inside, style=_INDENT)
    return element("details", head, body, **({"open": "open"} if is_open else {}))


def _entry(key: str, outline: list[Any], kind: str) -> Markup:
    line = f"{key}{_MARKS.get(kind, ': ')}{preview(outline)}"
    if _is_leaf(outline) or not outline[2]:
        return element("div", text(line), style=_NO_MARKER)
    return _branch(line, outline, is_open=False)


def preview(outline: list[Any]) -> str:
    """A value on one line; of a structure not more than fits."""
    if _is_leaf(outline):
        return _leaf(outline)
    shown, room = "", _PREVIEW
    for piece in _pieces(outline, _ENTRIES):
        shown += piece
        if len(shown) > room:
            return clipped(shown, room)
    return shown


def _pieces(outline: list[Any], most: int) -> Iterator[str]:
    if _is_leaf(outline):
        yield _leaf(outline)
        return
    kind, title, entries, left = outline
    yield f"{title} " if title else ""
    yield "[" if kind == "array" else "{"
    for at, (key, each) in enumerate(entries[:most]):
        yield ", " if at else ""
        yield f"{key}{_MARKS[kind]}" if kind in _MARKS else ""
        yield from _pieces(each, most // 2)
    if left + len(entries[most:]):
        yield ", …" if entries[:most] else "…"
    yield "]" if kind == "array" else "}"


def _is_leaf(outline: list[Any]) -> bool:
    return len(outline) < 4


def _leaf(outline: list[Any]) -> str:
    kind, shown = outline[0], clean_line(clipped(outline[1], _LEAF))
    return f"'{shown}'" if kind == "string" else shown
