"""Reads the bracketed parts of a type: members, parameters, elements of tuples.

Every method takes the index of a token and returns the index after what it read. They are strict,
because what they accept is hidden from the grammar: a syntax error that they let pass would be
erased, and the engine would never report it.
"""

from __future__ import annotations

from .tokens import Token

_BRACKETS = {b"(": b")", b"[": b"]", b"{": b"}"}
_CLOSING = frozenset(_BRACKETS.values())
_MODIFIERS = frozenset(b"readonly get set".split())
_AFTER_A_NAME = frozenset(b"( < : ? ; , }".split())
_NAMES = frozenset(("word", "string", "number"))


class NotAType(Exception):
    """There is no type here."""


class TypeMembers:
    """Reads the bracketed parts; `TypeReader` implements `_type` and `_angles`."""

    def __init__(self, tokens: list[Token]) -> None:
        self.tokens = tokens
        self.depth = 0
        self.ran_out = False
        # An unfinished type may be read again from many places; this bounds the total cost.
        self.steps_left = 8 * len(tokens) + 1000

    def _type(self, at: int) -> int:
        raise NotImplementedError

    def _angles(self, at: int) -> int:
        raise NotImplementedError

    def _text(self, at: int) -> bytes:
        if at >= len(self.tokens):
            self.ran_out = True
            return b""
        return self.tokens[at].text

    def _starts_line(self, at: int) -> bool:
        return at >= len(self.tokens) or self.tokens[at].starts_line

    def _expect(self, at: int, text: bytes) -> int:
        if self._text(at) != text:
            raise NotAType
        return at + 1

    def _balanced(self, at: int) -> int:
        """Anything between a bracket and its partner."""
        stack = [_BRACKETS.get(self.tokens[at].text)]
        if stack[0] is None:
            raise NotAType
        while stack:
            at += 1
            self.steps_left -= 1
            token = self.tokens[at]
            if token.kind == "template":
                _follow_template(stack, token.text)
            elif token.kind == "sign" and token.text in _BRACKETS:
                stack.append(_BRACKETS[token.text])
            elif token.kind == "sign" and token.text in _CLOSING and stack.pop() != token.text:
                raise NotAType
        return at + 1

    def _members(self, at: int) -> int:
        """{ a: A; b?(): B, readonly [c: string]: C }"""
        at = self._expect(at, b"{")
        if self._is_mapped(at):
            return self._mapped(at)
        while self._text(at) != b"}":
            at = self._member(at)
            if self._text(at) in (b";", b","):
                at += 1
            elif self._text(at) != b"}" and not self._starts_line(at):
                raise NotAType
        return at + 1

    def _is_mapped(self, at: int) -> bool:
        if self._text(at) in (b"+", b"-"):
            at += 1
        if self._text(at) == b"readonly":
            at += 1
        return self._text(at) == b"[" and self._text(at + 2) == b"in"

    def _mapped(self, at: int) -> int:
        """-readonly [K in A as B]+?: C }"""
        while self._text(at) != b"[":
            at += 1
        at = self._type(at + 3)
        if self._text(at) == b"as":
            at = self._type(at + 1)
        at = self._expect(at, b"]")
        if self._text(at) in (b"+", b"-"):
            at += 1
        if self._text(at) == b"?":
            at += 1
        if self._text(at) == b":":
            at = self._type(at + 1)
        if self._text(at) in (b";", b","):
            at += 1
        return self._expect(at, b"}")

    def _member(self, at: int) -> int:
        while self._text(at) in _MODIFIERS and self._text(at + 1) not in _AFTER_A_NAME:
            at += 1
        if self._text(at) == b"new" and self._text(at + 1) in (b"(", b"<"):
            at += 1
        if self._text(at) not in (b"(", b"<"):
            at = self._member_name(at)
        if self._text(at) in (b"(", b"<"):
            at = self._parameters(self._angles(at) if self._text(at) == b"<" else at)
        return self._type(at + 1) if self._text(at) == b":" else at

    def _member_name(self, at: int) -> int:
        """a, 'b', 1, [c], [d: string], with or without ?"""
        if self._text(at) == b"[":
            is_index = self._text(at + 2) == b":"
            at = self._expect(self._type(at + 3), b"]") if is_index else self._computed(at)
        elif self.tokens[at].kind in _NAMES:
            at += 1
        else:
            raise NotAType
        return at + 1 if self._text(at) == b"?" else at

    def _computed(self, at: int) -> int:
        """[Symbol.iterator], ['a']"""
        end = self._balanced(at)
        inside = self.tokens[at + 1 : end - 1]
        if any(token.kind == "sign" and token.text not in (b".", b"-") for token in inside):
            raise NotAType
        return end

    def _parameters(self, at: int) -> int:
        """(this: A, { b }: B, c?: C, ...d: D)"""
        at = self._expect(at, b"(")
        while self._text(at) != b")":
            at = self._parameter(at)
            if self._text(at) == b",":
                at += 1
            elif self._text(at) != b")":
                raise NotAType
        return at + 1

    def _parameter(self, at: int) -> int:
        if self._text(at) == b"...":
            at += 1
        if self._text(at) in (b"{", b"["):
            at = self._balanced(at)
        elif self.tokens[at].kind == "word":
            at += 1
        else:
            raise NotAType
        if self._text(at) == b"?":
            at += 1
        return self._type(at + 1) if self._text(at) == b":" else at

    def _tuple(self, at: int) -> int:
        """[A, b: B, c?: C, ...D, E?]"""
        at = self._expect(at, b"[")
        while self._text(at) != b"]":
            at = self._element(at)
            if self._text(at) == b",":
                at += 1
            elif self._text(at) != b"]":
                raise NotAType
        return at + 1

    def _element(self, at: int) -> int:
        if self._text(at) == b"...":
            at += 1
        colon = at + 2 if self._text(at + 1) == b"?" else at + 1
        if self._text(colon) == b":":
            at = colon + 1
        at = self._type(at)
        return at + 1 if self._text(at) == b"?" else at


def _follow_template(stack: list[bytes | None], text: bytes) -> None:
    """A template opens with its first part and closes with its last."""
    if text[:1] == b"`" and text.endswith(b"${"):
        stack.append(b"`")
    elif text[:1] == b"}" and not text.endswith(b"${"):
        stack.pop()
