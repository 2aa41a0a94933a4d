"""How a cell's text binds a name, as far as its tokens tell. Where that is not certain, it says so."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from .scan import Scan, Token

_LITERALS = {"string": "String", "template": "String", "number": "Number", "regex": "RegExp"}
_ANNOTATIONS = {
    "string": "String", "number": "Number", "boolean": "Boolean", "bigint": "BigInt",
    "symbol": "Symbol", "object": "Object",
}  # fmt: skip
_VARIABLES = ("const", "let", "var")
_PAIRS = {"(": ")", "[": "]", "{": "}"}
_CONTINUING = frozenset(("in", "instanceof", "as", "satisfies", "of"))
_TESTING = frozenset(("if", "while", "for", "switch", "with", "catch"))
_ASSIGNING = frozenset(("=", "++", "--", "of", "in"))
_BEFORE_BINDING = ("(", ",", "{", "[", "...")
_AFTER_BINDING = (")", ",", "}", "]", "=", ":", "?")


class Bindings:
    """The tokens of one text."""

    def __init__(self, whole: Scan, classes: Collection[str]) -> None:
        self._text = whole.text
        self._tokens = whole.tokens
        self._classes = classes

    def declares(self, name: str) -> bool:
        """Whether the text binds the name itself, in whatever way."""
        return bool(self._declarations(name)) or self._is_parameter(name)

    def class_of(self, name: str) -> str:
        """The class of what the name stands for; empty where that is not certain."""
        declarations = self._declarations(name)
        if len(declarations) != 1 or self._is_parameter(name):
            return ""
        at = declarations[0]
        before = self._tokens[at - 1].text
        if before in ("function", "class") or (before == "*" and self._word(at - 2) == "function"):
            return "Function"
        if before not in _VARIABLES or (before != "const" and self._is_assigned(name, at)):
            return ""
        if self._word(at + 1) == ":":
            return self._annotated(at + 2)
        return self._value(at + 2) if self._word(at + 1) == "=" else ""

    def class_before(self, end: int, tokens: Sequence[Token]) -> str:
        """The class of the expression that ends with this token of `tokens`, which is no name."""
        last = tokens[end]
        if last.text == "]":
            start = _opening(tokens, end)
            return "Array" if start is not None and not _is_value_end(tokens, start - 1) else ""
        if last.text == ")":
            start = _opening(tokens, end)
            made = [token.text for token in tokens[max(0, (start or 0) - 2) : start]]
            return (
                made[1] if len(made) == 2 and made[0] == "new" and made[1] in self._classes else ""
            )
        return _LITERALS.get(last.kind, "")

    def _declarations(self, name: str) -> list[int]:
        """Where a keyword declares the name."""
        found = []
        for at, token in enumerate(self._tokens):
            if token.text != name or token.kind != "name":
                continue
            before = self._word(at - 1)
            if before in (*_VARIABLES, "function", "class", "enum", "namespace") or (
                before == "*" and self._word(at - 2) == "function"
            ):
                found.append(at)
        return found

    def _is_parameter(self, name: str) -> bool:
        """Whether it may be a parameter, or part of a pattern that is taken apart."""
        return any(
            self._word(at + 1) == "=>" or self._stands_in_pattern(at)
            for at, token in enumerate(self._tokens)
            if token.text == name and token.kind == "name"
        )

    def _stands_in_pattern(self, at: int) -> bool:
        if self._word(at - 1) not in _BEFORE_BINDING or self._word(at + 1) not in _AFTER_BINDING:
            return False
        depth, start = 0, at - 1
        while start >= 0:
            text = self._tokens[start].text
            depth += (text in _PAIRS.values()) - (text in _PAIRS)
            if depth < 0 and self._is_pattern(start):
                return True
            if depth < -3 or text == ";":
                return False
            start -= 1
        return False

    def _is_pattern(self, start: int) -> bool:
        """Whether the bracket at `start` holds parameters, or a pattern of a declaration."""
        before = self._word(start - 1)
        if before in _VARIABLES:
            return True
        end = _closing(self._tokens, start)
        after = self._word(end + 1) if end is not None else ""
        if self._tokens[start].text == "(":
            return after in ("=>", ":") or (after == "{" and before not in _TESTING - {"catch"})
        return False

    def _is_assigned(self, name: str, declared_at: int) -> bool:
        for at, token in enumerate(self._tokens):
            if token.text == name and token.kind == "name" and at != declared_at:
                after, before = self._word(at + 1), self._word(at - 1)
                assigns = after in _ASSIGNING or (after.endswith("=") and after not in
                                                  ("==", "===", "!=", "!==", "<=", ">="))  # fmt: skip
                if (assigns and before != ".") or before in ("++", "--"):
                    return True
        return False

    def _annotated(self, at: int) -> str:
        """By the type that begins here, if it is a plain one."""
        words: list[str] = []
        for token in self._tokens[at : at + 40]:
            ends = token.text in (",", ")") and "<" not in words
            if ends or token.text in ("=", ";") or (words and self._on_new_line(token)):
                break
            words.append(token.text)
        if not words or {"|", "&", "=>", "?", "extends", "keyof", "typeof"} & set(words):
            return ""
        if words[-2:] == ["[", "]"] or (len(words) > 1 and words[0] in ("readonly", "[")):
            return "Array" if words[-1] == "]" else ""
        if len(words) == 1 or (words[1] == "<" and words[-1].endswith(">")):
            return _ANNOTATIONS.get(words[0], words[0] if words[0] in self._classes else "")
        return ""

    def _value(self, at: int) -> str:
        """By the value that begins here, if it is a literal or `new X(…)` and nothing follows."""
        tokens = self._tokens
        if at >= len(tokens):
            return ""
        first, end = tokens[at], at
        found = _LITERALS.get(first.kind, "")
        if first.text == "new" and self._word(at + 1) in self._classes:
            found = self._word(at + 1)
            call = at + 2 if self._word(at + 2) != "<" else self._after_generics(at + 2)
            end = (_closing(tokens, call) or call) if self._word(call) == "(" else at + 1
        elif first.text == "[":
            found, end = "Array", _closing(tokens, at) or len(tokens)
        return found if found and self._ends_after(end) else ""

    def _after_generics(self, at: int) -> int:
        while at < len(self._tokens) and self._word(at) != "(":
            at += 1
        return at

    def _ends_after(self, end: int) -> bool:
        """Whether the expression is over behind this token."""
        if end + 1 >= len(self._tokens):
            return end < len(self._tokens)
        following = self._tokens[end + 1]
        if following.text in (";", ",", ")", "}"):
            return True
        continues = following.kind in ("punctuator", "template") or following.text in _CONTINUING
        return self._on_new_line(following) and (not continues or following.text == "{")

    def _on_new_line(self, token: Token) -> bool:
        """Whether a line ends somewhere between the token before this one and it."""
        at = token.start
        while at > 0 and self._text[at - 1].isspace():
            at -= 1
            if self._text[at] == "\n":
                return True
        return False

    def _word(self, at: int) -> str:
        return self._tokens[at].text if 0 <= at < len(self._tokens) else ""


def _opening(tokens: Sequence[Token], end: int) -> int | None:
    """Where the bracket that closes at `end` was opened."""
    depth = 0
    for at in range(end, -1, -1):
        depth += (tokens[at].text in _PAIRS.values()) - (tokens[at].text in _PAIRS)
        if depth == 0:
            return at
    return None


def _closing(tokens: Sequence[Token], start: int) -> int | None:
    """Where the bracket that opens at `start` is closed."""
    depth = 0
    for at in range(start, len(tokens)):
        depth += (tokens[at].text in _PAIRS) - (tokens[at].text in _PAIRS.values())
        if depth == 0:
            return at
    return None


def _is_value_end(tokens: Sequence[Token], at: int) -> bool:
    """Whether a bracket behind this token is an index, and not an array of its own."""
    if at < 0:
        return False
    token = tokens[at]
    if token.kind == "name":
        return token.text not in (
            "return",
            "typeof",
            "case",
            "in",
            "of",
            "await",
            "yield",
            "default",
        )
    return token.kind != "punctuator" or token.text in (")", "]", "}")
