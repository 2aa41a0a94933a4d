"""Whether the text typed so far is a complete cell: `jupyter console` asks after each line."""

from __future__ import annotations

from typing import Any

from ..errors import OptionError
from ..notebook.assist.scan import Scan, scan
from .cell import parse_cell

_UNFINISHED = (
    "= => + - * / % ** && || ?? ? : , . ?. < > & | ^ ! ~ += -= *= == === != !== <= >= ..."
    " const let var import export from default else function class extends new typeof"
    " await case throw of in instanceof as enum interface namespace type"
)
_WANTS_MORE = frozenset(_UNFINISHED.split())


def is_complete(text: str) -> dict[str, Any]:
    """The content of an is_complete_reply."""
    try:
        cell = parse_cell(text)
    except OptionError:
        return {"status": "invalid"}
    if cell.cell_magic is not None:
        done = text.endswith("\n") and not text.rstrip(" ").split("\n")[-2:][0].strip()
        return {"status": "complete"} if done else {"status": "incomplete", "indent": ""}
    return _verdict(scan(cell.source), cell.source)


def _verdict(found: Scan, source: str) -> dict[str, Any]:
    if found.problem:
        return {"status": "invalid"}
    if found.open_text is not None and found.open_text.kind == "string":
        return {"status": "invalid"}
    if found.open_text is not None:
        return {"status": "incomplete", "indent": ""}
    if found.brackets:
        return {"status": "incomplete", "indent": _indent(source, len(found.brackets))}
    if found.tokens and found.tokens[-1].text in _WANTS_MORE:
        return {"status": "incomplete", "indent": _indent(source, 1)}
    return {"status": "complete"}


def _indent(source: str, levels: int) -> str:
    """Two spaces per level, or the last line's own indentation if that is deeper."""
    last = source.rstrip("\n").rsplit("\n", 1)[-1]
    present = last[: len(last) - len(last.lstrip())]
    return max("  " * levels, present, key=len) if not source.endswith("\n") else "  " * levels
