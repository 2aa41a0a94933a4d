"""What a person sees: a console call as text, a result as a MIME bundle.

All that leaves here has been through `clean`, and the only MIME types are text/plain and
application/json: what the sandbox made is shown, never rendered.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from ...contract import CodeExecutionLog
from ...jsonable import to_jsonable
from ...values import GuestError
from .clean import clean, is_clean
from .numbers import spell_number
from .render import error_line, quote, show
from .table import are_records, text_table

__all__ = ["console_line", "mimebundle", "quote", "show", "tree_metadata"]

_DIRECTIVE = re.compile(r"%[sdifjoOc%]")
_OPEN_NODES = 40


def console_line(log: CodeExecutionLog) -> str:
    """One console call as text that ends in a newline, indented by its open groups."""
    if len(log.args) == 1 and type(log.args[0]) is str and not log.depth:
        return clean(log.args[0]) + "\n"  # nearly every line of a flood
    if log.method == "table" and log.args:
        text = text_table(log.args[0], show, _column_names(log.args)) or _joined(log.args)
    else:
        text = _joined(log.args)
    if log.depth:
        indent = "  " * log.depth
        text = indent + text.replace("\n", "\n" + indent)
    return text + "\n"


def _column_names(args: Sequence[Any]) -> list[str] | None:
    """The second argument of `console.table`, if it was given."""
    if len(args) < 2 or not isinstance(args[1], list):
        return None
    return [name for name in args[1] if isinstance(name, str)]


def _joined(args: Sequence[Any]) -> str:
    if len(args) == 1 and isinstance(args[0], str):
        return clean(args[0])
    rest = list(args)
    words: list[str] = []
    if len(rest) > 1 and isinstance(rest[0], str) and "%" in rest[0]:
        words.append(_DIRECTIVE.sub(lambda match: _directive(match[0], rest), rest.pop(0)))
    words += [_argument(value) for value in rest]
    return clean(" ".join(words))


def _argument(value: Any) -> str:
    """Top-level strings are printed bare, and errors with their stack."""
    if isinstance(value, str):
        return value
    if isinstance(value, GuestError) and value.stack:
        stack = value.stack.rstrip("\n")
        return stack if str(value) in stack else f"{error_line(value)}\n{stack}"
    return show(value)


def _directive(mark: str, rest: list[Any]) -> str:
    if mark == "%%":
        return "%"
    if not rest:
        return mark
    value = rest.pop(0)
    match mark:
        case "%c":
            return ""  # styles have no meaning in text
        case "%s":
            return value if isinstance(value, str) else show(value, depth=0)
        case "%d" | "%i" | "%f":
            return _as_number(value, whole=mark == "%i")
        case _:
            return show(value)


def _as_number(value: Any, whole: bool) -> str:
    if isinstance(value, str):
        try:
            value = float(value)
        except ValueError:
            return "NaN"
    if not isinstance(value, int | float):
        return "NaN"
    if whole and isinstance(value, float) and value == value and abs(value) < 2**63:
        value = int(value)
    return spell_number(int(value) if isinstance(value, bool) else value)


def mimebundle(value: Any) -> dict[str, Any]:
    """A result: always as text, and as JSON if it is an object or array with nothing to clean.

    Not for bare scalars: front ends that draw JSON as a tree would label a plain 2 as its root.
    """
    bundle: dict[str, Any] = {"text/plain": show(value)}
    if isinstance(value, list | dict) and _JSONCheck().holds(value, 200):
        bundle["application/json"] = to_jsonable(value)
    return bundle


def tree_metadata(value: Any) -> dict[str, Any]:
    """How JupyterLab draws the JSON of a result: a small tree open, so that the value is seen.

    Records have a table above; their tree stays folded.
    """
    small = isinstance(value, list | dict) and _JSONCheck(_OPEN_NODES).holds(value, 200)
    return {"application/json": {"expanded": True}} if small and not are_records(value) else {}


class _JSONCheck:
    """Whether JSON says a value in full, in few enough words for a page to draw as a tree."""

    def __init__(self, nodes: int = 50_000) -> None:
        self._nodes = nodes
        self._characters = 1_000_000

    def holds(self, value: Any, depth: int) -> bool:
        self._nodes -= 1
        if self._nodes < 0 or depth < 0:
            return False
        match value:
            case None | bool():
                return True
            case str():
                return self._text(value)
            case int() | float():
                spelled = spell_number(value)
                return spelled[-1] not in "nNy" and spelled != "-0"
            case list() | tuple():
                return all(self.holds(item, depth - 1) for item in value)
            case dict():
                return all(
                    isinstance(key, str) and self._text(key) and self.holds(item, depth - 1)
                    for key, item in value.items()
                )
            case _:
                return False

    def _text(self, text: str) -> bool:
        self._characters -= len(text)
        return self._characters >= 0 and is_clean(text)
