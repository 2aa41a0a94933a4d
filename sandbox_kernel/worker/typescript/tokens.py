"""Splits a source that the grammar cannot parse into tokens, just well enough to repair it.

Used for sources whose tree has errors. Every pattern is possessive and failed searches are remembered, so that the
cost is linear for any text.
"""

from __future__ import annotations

import re
from typing import NamedTuple

_WORD = rb"[\w$#\\\x80-\xff]"
_TOKEN = re.compile(
    rb"""
    (?P<space>(?:[ \t\v\f]|\xc2\xa0|\xef\xbb\xbf)++)
  | (?P<line>[\r\n]|\xe2\x80[\xa8\xa9])
  | (?P<comment>//[^\r\n]*+|/\*(?>(?:[^*]++|\*(?!/))*+)(?:\*/)?)
  | (?P<word>[A-Za-z_$#\\\x80-\xff](?:%b|\\u\{[0-9a-fA-F]*\})*+)
  | (?P<number>\.?\d(?:[eE][+-]?\d|[\w.])*+)
  | (?P<string>"(?:[^"\\\r\n]|\\(?:\r\n|[\s\S]))*+"?|'(?:[^'\\\r\n]|\\(?:\r\n|[\s\S]))*+'?)
  | (?P<sign>=>|\.\.\.|\?\.(?!\d)|\?\?=?|&&=?|\|\|=?|[=!]==?|\*\*=?|\+\+|--|[-+*/%%&|^<]=|<<=?|[\s\S])
    """
    % _WORD,
    re.VERBOSE,
)
_REGEX = re.compile(rb"/(?![*/])(?:[^/\\\[\r\n]|\\[^\r\n]|\[(?:[^\]\\\r\n]|\\[^\r\n])*+\])++/\w*+")
_TEMPLATE = re.compile(rb"(?:[^`\\$]|\\[\s\S]|\$(?!\{))*+(?:`|\$\{)?")
# A slash after one of these divides; after any other sign it opens a regular expression.
_ENDS_A_VALUE = frozenset((b")", b"]", b"}"))
_BEFORE_A_VALUE = frozenset(
    b"return typeof case do else in instanceof new void delete throw yield await of".split()
)


class Token(NamedTuple):
    """`kind` is word, number, string, regex, template or sign."""

    kind: str
    text: bytes
    start: int
    end: int
    starts_line: bool


def ends_arguments(following: Token) -> bool:
    """Whether `a<b>` before this token has type arguments, because the token starts a line.

    On the same line a token shows this only if it cannot start a value; the grammar handles that.
    """
    return following.starts_line and following.text not in (b"<", b">", b"+", b"-")


class Tokenizer:
    """Reads tokens from a source."""

    def __init__(self, data: bytes) -> None:
        self.data = data
        self.tokens: list[Token] = []
        self.braces: list[bool] = []
        self.starts_line = True
        self.no_regex_before = 0

    def read(self) -> list[Token]:
        at, end = 0, len(self.data)
        while at < end:
            at = self._next(at)
        return self.tokens

    def read_some(self, at: int, count: int) -> list[Token]:
        """Up to `count` tokens from a position, which must not be inside one."""
        end = len(self.data)
        while at < end and len(self.tokens) < count:
            at = self._next(at)
        return self.tokens

    def _next(self, at: int) -> int:
        found = _TOKEN.match(self.data, at)
        kind = found.lastgroup if found else None
        if found is None or kind is None:  # impossible: the last alternative matches any byte
            return at + 1
        if kind in ("space", "line", "comment"):
            self.starts_line = self.starts_line or kind == "line" or b"\n" in found[0]
            return found.end()
        if kind == "sign":
            return self._sign(at, found.end())
        return self._add(kind, at, found.end())

    def _sign(self, at: int, end: int) -> int:
        sign = self.data[at : at + 1]
        if sign == b"/" and not self._after_value():
            regex = self._regex(at)
            if regex:
                return self._add("regex", at, regex)
        if sign == b"`":
            return self._template(at, at + 1)
        if sign == b"{":
            self.braces.append(False)
        elif sign == b"}" and self.braces and self.braces.pop():
            return self._template(at, at + 1)
        return self._add("sign", at, end)

    def _template(self, start: int, at: int) -> int:
        found = _TEMPLATE.match(self.data, at)
        assert found is not None
        if found[0].endswith(b"${"):
            self.braces.append(True)
        return self._add("template", start, found.end())

    def _regex(self, at: int) -> int:
        if at < self.no_regex_before:
            return 0
        found = _REGEX.match(self.data, at)
        if found is None:
            line_end = self.data.find(b"\n", at)
            self.no_regex_before = line_end if line_end >= 0 else len(self.data)
        return found.end() if found else 0

    def _after_value(self) -> bool:
        if not self.tokens:
            return False
        last = self.tokens[-1]
        if last.kind == "word":
            return last.text not in _BEFORE_A_VALUE
        return last.kind != "sign" or last.text in _ENDS_A_VALUE

    def _add(self, kind: str, start: int, end: int) -> int:
        self.tokens.append(Token(kind, self.data[start:end], start, end, self.starts_line))
        self.starts_line = False
        return end
