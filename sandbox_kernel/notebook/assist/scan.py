"""A light scanner of JavaScript and TypeScript, for help while typing.

In plain Python on purpose: the real parsers are C code, which reads a cell's text only inside a
worker. This one only tells words, strings and brackets apart, in one pass.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Literal

Kind = Literal["name", "number", "string", "template", "regex", "punctuator"]

_KEYWORDS = (
    "abstract any as async await bigint boolean break case catch class const continue debugger"
    " declare default delete do else enum export extends false finally for from function get"
    " if implements import in instanceof interface keyof let namespace never new null number of"
    " private protected public readonly return satisfies set static string super switch symbol"
    " this throw true try type typeof undefined unknown var void while yield"
)
KEYWORDS = frozenset(_KEYWORDS.split())

_TOKEN = re.compile(
    r"""(?P<space>\s+)
      | (?P<comment>//[^\n]*)
      | (?P<block>/\*)
      | (?P<name>[A-Za-z_$\u0080-\U0010ffff#@][\w$]*)
      | (?P<number>\.?\d[\w.]*)
      | (?P<quote>['"])
      | (?P<template>`)
      | (?P<punctuator>=>|\.\.\.|\?\.|[-+*/%&|^<>=!?]+|[^\s])""",
    re.VERBOSE,
)
_STRING_END = {mark: re.compile(rf"(?:[^\\\n{mark}]|\\.|\\\n)*", re.DOTALL) for mark in "'\""}
_REGEX = re.compile(r"/(?:[^\\/\[\n]|\\.|\[(?:[^\]\\\n]|\\.)*\])+/[a-z]*")
_MAX_REGEX = 500  # characters; a slash that starts no regex must not cost a search of all the text
_TEMPLATE_PART = re.compile(r"(?:[^\\`$]|\\.|\$(?!\{))*", re.DOTALL)
_PAIRS = {")": "(", "]": "[", "}": "{"}
_BEFORE_VALUE = frozenset(
    (
        "return",
        "typeof",
        "case",
        "in",
        "of",
        "delete",
        "void",
        "throw",
        "new",
        "else",
        "await",
        "yield",
    )
)


@dataclass(frozen=True, slots=True)
class Token:
    kind: Kind
    text: str
    start: int

    @property
    def end(self) -> int:
        return self.start + len(self.text)


@dataclass(slots=True)
class Scan:
    """The tokens, and what is still open where the text ends."""

    tokens: list[Token] = field(default_factory=list)
    brackets: list[str] = field(default_factory=list)  # "`" stands for a template's `${`
    open_text: Token | None = None  # a string, template or comment that has not ended
    problem: str | None = None
    text: str = ""


def scan(text: str) -> Scan:
    """Scans all of it; the first mistake is noted in `problem`, and scanning continues."""
    return _Scanner(text).run()


class _Scanner:
    def __init__(self, text: str) -> None:
        self._text = text
        self._at = 0
        self._scan = Scan(text=text)

    def run(self) -> Scan:
        while self._at < len(self._text) and self._scan.open_text is None:
            match = _TOKEN.match(self._text, self._at)
            assert match is not None  # the last alternative takes anything
            self._step(str(match.lastgroup), match[0])
        return self._scan

    def _step(self, group: str, text: str) -> None:
        match group:
            case "space" | "comment":
                self._at += len(text)
            case "block":
                self._block_comment()
            case "quote":
                self._string(text)
            case "template":
                self._at += 1
                self._template(self._at - 1)
            case "punctuator":
                self._punctuator(text)
            case _:
                self._add("name" if group == "name" else "number", text)

    def _add(self, kind: Kind, text: str) -> None:
        self._scan.tokens.append(Token(kind, text, self._at))
        self._at += len(text)

    def _leave_open(self, kind: Kind, start: int) -> None:
        self._scan.open_text = Token(kind, self._text[start:], start)
        self._at = len(self._text)

    def _block_comment(self) -> None:
        end = self._text.find("*/", self._at + 2)
        if end < 0:
            self._leave_open("punctuator", self._at)
        else:
            self._at = end + 2

    def _string(self, mark: str) -> None:
        match = _STRING_END[mark].match(self._text, self._at + 1)
        end = match.end() if match else self._at + 1
        if end >= len(self._text):
            self._leave_open("string", self._at)
        elif self._text[end] != mark:
            self._scan.problem = self._scan.problem or "a string is not closed on its line"
            self._at = end
        else:
            self._add("string", self._text[self._at : end + 1])

    def _template(self, start: int) -> None:
        """From after a backtick, or after the `}` of a substitution, to the end of that part."""
        match = _TEMPLATE_PART.match(self._text, self._at)
        end = match.end() if match else self._at
        if end >= len(self._text):
            self._leave_open("template", start)
        elif self._text[end] == "`":
            self._scan.tokens.append(Token("template", self._text[start : end + 1], start))
            self._at = end + 1
        else:
            self._scan.brackets.append("`")
            self._at = end + 2

    def _punctuator(self, text: str) -> None:
        if text[0] == "/" and self._value_may_follow():
            match = _REGEX.match(self._text, self._at, self._at + _MAX_REGEX)
            if match:
                self._add("regex", match[0])
                return
        if text in ("(", "[", "{"):
            self._scan.brackets.append(text)
        elif text in _PAIRS:
            self._close(text)
            return
        self._add("punctuator", text)

    def _close(self, text: str) -> None:
        brackets = self._scan.brackets
        if text == "}" and brackets and brackets[-1] == "`":
            brackets.pop()
            self._at += 1
            self._template(self._at - 1)
            return
        if brackets and brackets[-1] == _PAIRS[text]:
            brackets.pop()
        else:
            self._scan.problem = self._scan.problem or f"{text} has no matching {_PAIRS[text]}"
        self._add("punctuator", text)

    def _value_may_follow(self) -> bool:
        """Whether a slash here starts a regular expression rather than a division."""
        if not self._scan.tokens:
            return True
        last = self._scan.tokens[-1]
        if last.kind == "name":
            return last.text in _BEFORE_VALUE
        return last.kind == "punctuator" and last.text not in (")", "]", "}")
