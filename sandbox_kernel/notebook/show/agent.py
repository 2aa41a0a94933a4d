"""The events of an agent as text: what it says, the code that it wrote, and what came back."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ...agents.events import AgentEvent
from ...brief import brief
from ...budget import more
from ...clean import clean, clean_line, clean_start

_LONGEST = 10_000  # characters of one result, or of one piece of code
_LONGEST_ARGS = 2_000
_DIM, _BOLD, _END = "\x1b[2m", "\x1b[1m", "\x1b[0m"


class EventText:
    """Spells the events of one answer, each on lines of its own."""

    def __init__(self) -> None:
        self._is_within_line = False

    def of(self, event: AgentEvent) -> str:
        if event.type == "text_delta":
            return self._said(clean(event.text))
        if event.type == "reasoning_delta":
            return f"{_DIM}{self._said(clean(event.text))}{_END}"
        if event.type == "tool_start":
            return self._own_line(_started(event.tool_name, event.args))
        how = "error" if event.is_error else "ok"
        head = f"{_BOLD}← {clean_line(event.tool_name)} [{how}]:{_END}"
        return self._own_line(f"{head}\n{_cut(event.result)}")

    def last(self) -> str:
        """What ends a line that was begun."""
        return "\n" if self._is_within_line else ""

    def _said(self, text: str) -> str:
        self._is_within_line = bool(text) and not text.endswith("\n")
        return text

    def _own_line(self, text: str) -> str:
        before = "\n" if self._is_within_line else ""
        self._is_within_line = False
        return f"{before}{text}\n"


def _started(name: str, args: Any) -> str:
    """The code of a call that runs code is shown as code."""
    head = f"{_BOLD}→ {clean_line(name)}{_END}"
    code = args.get("code") if isinstance(args, Mapping) else None
    if not isinstance(code, str):
        shown = "" if args in ({}, None) else clean_line(brief(args, _LONGEST_ARGS))
        return f"{head} {shown}".rstrip()
    language = args.get("language") or args.get("runtime") or "python"
    return f"{head} {clean_line(str(language)[:40])}\n{highlighted(_cut(code), str(language))}"


def highlighted(code: str, language: str) -> str:
    """With colours, if pygments is there and knows the language. The code is clean already."""
    try:
        from pygments import highlight
        from pygments.formatters import TerminalFormatter
        from pygments.lexers import get_lexer_by_name
        from pygments.util import ClassNotFound
    except ImportError:
        return code
    try:
        lexer = get_lexer_by_name(_LEXERS.get(language.lower(), language.lower()[:40]))
    except ClassNotFound:
        return code
    return str(highlight(code, lexer, TerminalFormatter())).rstrip("\n")


_LEXERS = {"node": "javascript", "nodejs": "javascript", "deno": "typescript"}


def _cut(text: str) -> str:
    shown, left = clean_start(text, _LONGEST)
    return shown + (more(left) if left else "")
