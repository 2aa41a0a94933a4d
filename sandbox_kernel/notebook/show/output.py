"""A console call as text, and whether JSON can say all of a value.

All that leaves here has been through `clean`: what the sandbox made is shown, never rendered.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from itertools import islice
from operator import length_hint
from typing import Any

from ...budget import CHARACTERS, Budget, capped, clipped, hard_limit, more
from ...clean import clean, clean_start, is_clean
from ...contract import CodeExecutionLog
from ...values import MAX_SAFE_INTEGER, BigInt, GuestError
from .numbers import spell_number
from .render import MAX_NAME, MAX_STRING, error_line, not_shown, quote, show
from .table import text_table

__all__ = ["console_line", "quote", "says_all_in_json", "show"]

MAX_GROUPS = 100  # open groups that indent a line
MAX_TEXT = 1_200_000  # characters of a string that is logged alone, which costs least to show
_DIRECTIVE = re.compile(r"%[sdifjoOc%]")
_LONGEST_NUMBER = 400  # characters that `%d` reads
_JSON_NODES = 15_000


def console_line(log: CodeExecutionLog, budget: Budget | None = None) -> str:
    """One console call as text that ends in a newline, indented by its open groups.

    Never fails: what cannot be shown says so.
    """
    if budget is None:
        if _is_text(log):
            return _text_line(log.args[0])
        budget = Budget()
    most = budget.characters
    try:
        text = _console_text(log, budget)
    except Exception as fault:
        text = not_shown(log, fault)
    if log.depth > 0:
        text = _indented(text, "  " * min(log.depth, MAX_GROUPS), most)
    return capped(text, hard_limit(most)) + "\n"


def _is_text(log: CodeExecutionLog) -> bool:
    """One string and nothing else, as nearly every line of a flood is."""
    return len(log.args) == 1 and type(log.args[0]) is str and not log.depth


def _text_line(text: str) -> str:
    if len(text) <= MAX_STRING:
        return clean(text) + "\n"
    shown, left = clean_start(text, MAX_TEXT)
    return f"{shown}{more(left)}\n" if left else f"{shown}\n"


def _console_text(log: CodeExecutionLog, budget: Budget) -> str:
    if log.method == "table" and log.args:
        table = text_table(log.args[0], show, _column_names(log.args), budget=budget)
        if table is not None:
            return table
    return _joined(log.args, budget)


def _indented(text: str, indent: str, most: int) -> str:
    """As many lines as fit when each is indented."""
    lines = text.split("\n", most // len(indent))
    shown, room = [], most
    for line in lines:
        room -= len(line) + len(indent) + 1
        shown.append(indent + line)
        if room < 0:
            break
    left = len(text) - sum(len(line) - len(indent) + 1 for line in shown)
    return "\n".join(shown) if left <= 0 else "\n".join([*shown, indent + more(left)])


def _column_names(args: Sequence[Any]) -> list[str] | None:
    """The second argument of `console.table`, if it was given."""
    if len(args) < 2 or not isinstance(args[1], list):
        return None
    return [name for name in islice(args[1], MAX_NAME) if isinstance(name, str)]


def _joined(args: Sequence[Any], budget: Budget) -> str:
    if len(args) == 1 and isinstance(args[0], str):
        return _bare(args[0], budget)
    rest = iter(args)
    words: list[str] = []
    if len(args) > 1 and isinstance(args[0], str) and "%" in args[0][: budget.characters]:
        words.append(_formatted(next(rest), rest, budget))
    for value in rest:
        if budget.spent:
            words.append(f"… {length_hint(rest) + 1:,} more arguments")
            break
        words.append(_argument(value, budget))
    return " ".join(words)


def _formatted(text: str, rest: Iterator[Any], budget: Budget) -> str:
    """The first argument with its directives replaced by the arguments that follow."""
    parts, at = [], 0
    for match in _DIRECTIVE.finditer(text, 0, budget.characters):
        parts.append(_bare(text[at : match.start()], budget))
        at = match.end()
        parts.append(_directive(match[0], rest, budget))
        if budget.spent:
            break
    return "".join([*parts, _bare(text[at:], budget)])


def _bare(text: str, budget: Budget) -> str:
    """A string as it is, cleaned; as much of it as the budget has room for."""
    shown, left = clean_start(text, max(0, budget.characters))
    budget.spend(len(shown) + 1)
    return shown + more(left) if left else shown


def _argument(value: Any, budget: Budget) -> str:
    """Top-level strings are printed bare, and errors with their stack."""
    if isinstance(value, str):
        return _bare(value, budget)
    if isinstance(value, GuestError) and value.stack:
        stack = value.stack[: 2 * MAX_STRING].rstrip("\n")
        name, message = clipped(value.name, MAX_NAME), clipped(value.message, MAX_STRING)
        said = f"{name}: {message}" if message else name
        if said in stack:
            return _bare(stack, budget)
        return _bare(f"{error_line(value)}\n{stack}", budget)
    return show(value, budget=budget)


_NOTHING = object()


def _directive(mark: str, rest: Iterator[Any], budget: Budget) -> str:
    if mark == "%%":
        budget.spend(1)
        return "%"
    value = next(rest, _NOTHING)
    if value is _NOTHING:
        budget.spend(2)
        return mark
    match mark:
        case "%c":
            budget.spend(0)
            return ""  # styles have no meaning in text
        case "%s":
            return _bare(value, budget) if isinstance(value, str) else show(value, 0, budget)
        case "%d" | "%i" | "%f":
            text = _as_number(value, mark == "%i", budget)
            budget.spend(len(text))
            return text
        case _:
            return show(value, budget=budget)


def _as_number(value: Any, whole: bool, budget: Budget) -> str:
    if isinstance(value, str):
        try:
            value = float(value[:_LONGEST_NUMBER])
        except ValueError:
            return "NaN"
    if not isinstance(value, int | float):
        return "NaN"
    if whole and isinstance(value, float) and value == value and abs(value) < 2**63:
        value = int(value)
    return spell_number(int(value) if isinstance(value, bool) else value, max(0, budget.characters))


def says_all_in_json(value: Any, nodes: int = _JSON_NODES) -> bool:
    """Whether JSON says an object or array in full, in few enough words to draw as a tree."""
    if not isinstance(value, list | dict):
        return False
    try:
        return _JSONCheck(Budget(CHARACTERS, nodes)).holds(value, 200)
    except Exception:
        return False  # it is shown as text, which says what is wrong with it


class _JSONCheck:
    def __init__(self, budget: Budget) -> None:
        self._budget = budget

    def holds(self, value: Any, depth: int) -> bool:
        self._budget.spend(0)
        if self._budget.work < 0 or depth < 0:
            return False
        match value:
            case None | bool():
                return True
            case str():
                return self._text(value)
            case BigInt():
                return False
            case int():
                return -MAX_SAFE_INTEGER <= value <= MAX_SAFE_INTEGER
            case float():
                return math.isfinite(value) and (value != 0 or math.copysign(1, value) > 0)
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
        self._budget.spend(len(text), 0)
        return self._budget.characters >= 0 and is_clean(text)
