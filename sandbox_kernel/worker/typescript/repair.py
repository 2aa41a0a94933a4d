"""Replaces syntax that the grammar cannot parse by other text of the same length.

tree-sitter-typescript does not know all of TypeScript: variance annotations, `import('a').B<C>`, object
types without separators, static index signatures, words such as `as` or `namespace` used as names …
When a tree has errors, we tokenize the source and parse a *shadow* of it, in which every type that is
certain from its context is a single long name, and every such word an ordinary name. Positions are the
same in both, so the tree of the shadow says what to erase in the source. A shadow is never compiled.
"""

from __future__ import annotations

from .blank import Span
from .shadow import Shadow
from .tokens import Token, Tokenizer, ends_arguments
from .typereader import TypeReader

_OPENERS = frozenset((b";", b"}", b"{", b"export", b"declare", b")", b"default", b":", b">"))
_NAMES = frozenset(b"as satisfies namespace module declare type global using".split())
_BEHIND_A_MEMBER = frozenset((b":", b"?", b"!"))
_MODIFIERS = frozenset(
    b"abstract readonly override static accessor public private protected get set".split()
)
_AFTER_A_MEMBER = frozenset(
    b"; , ) ] } = . ( ? : + - / % & | ^ && || ?? => ?. ! == === != !== += -=".split()
)
_AFTER_A_NAME = _AFTER_A_MEMBER | {b"[", b"*"}
_CONTINUING = b"`/+-*%([<"
_VALUE_ENDS = frozenset((b")", b"]", b"}", b"!"))
_NOT_VALUES = frozenset(
    b"return typeof case do else in instanceof new void delete throw yield await of import export * ,".split()
)


class Repair:
    """Makes the shadow of one source, and notes what must be blanked that the shadow hides."""

    def __init__(self, data: bytes) -> None:
        self.data = data
        self.shadow = bytearray(data)
        self.tokens = Tokenizer(data).read()
        self.reader = TypeReader(self.tokens)
        self.forced: list[Span] = []
        self.gaps: list[int] = []
        self.clauses: list[Span] = []

    def run(self) -> bytes:
        at = 0
        while at < len(self.tokens):
            at = self._visit(at)
        return bytes(self.shadow)

    def _visit(self, at: int) -> int:
        token = self.tokens[at]
        if token.kind == "word":
            visit = _VISITS.get(token.text)
            reached = visit(self, at) if visit else None
            if reached is None and (token.text in _NAMES or token.text in _MODIFIERS):
                self._ordinary_word(at)
            return reached if reached is not None and reached > at else at + 1
        if token.text in (b":", b"<"):
            return (self._annotation if token.text == b":" else self._arguments)(at) or at + 1
        if token.kind == "number" and token.text[:1] == b"." and self._text(at - 1) == b"?":
            # The grammar parses `a?.5:b` as an optional chain.
            self.shadow[token.start : token.start + 1] = b"1"
        return at + 1

    def _text(self, at: int) -> bytes:
        return self.tokens[at].text if 0 <= at < len(self.tokens) else b""

    def _is_word(self, at: int) -> bool:
        return at < len(self.tokens) and self.tokens[at].kind == "word"

    def _starts_statement(self, at: int) -> bool:
        return at == 0 or self.tokens[at].starts_line or self._text(at - 1) in _OPENERS

    def _declares(self, at: int) -> bool:
        """Whether the keyword here starts a statement that declares the name after it."""
        is_named = self._starts_statement(at) and self._is_word(at + 1)
        return is_named and not self.tokens[at + 1].starts_line

    def _hide(self, start: int, end: int) -> None:
        """Replace a span by spaces in the shadow."""
        self.shadow[start:end] = b" " * (end - start)

    def _write_name(self, start: int, end: int) -> None:
        """Replace a span by one long name in the shadow."""
        self.shadow[start:end] = b"T" + b"_" * (end - start - 1)

    def _type_at(self, at: int) -> int | None:
        """Replace the type at a token by one name; returns the index after it."""
        end = self.reader.end_of_type(at)
        if end is not None:
            self._write_name(self.tokens[at].start, self.tokens[end - 1].end)
        return end

    def _generics_at(self, at: int) -> int:
        """Replace `<…>`, if it is here, by `<T>`; returns the index after it."""
        end = self.reader.end_of_arguments(at) if self._text(at) == b"<" else None
        if end is None or end <= at + 2:
            return at
        self._write_name(self.tokens[at].end, self.tokens[end - 1].start)
        return end

    def _interface(self, at: int) -> int | None:
        """interface A<B> extends C<D> { … }"""
        if not self._declares(at):
            return None
        body = self._generics_at(at + 2)
        if self._text(body) == b"extends":
            body = self._heritage(body + 1)
        end = self.reader.end_of_members(body)
        if end is not None:
            self._hide(self.tokens[body].end, self.tokens[end - 1].start)
        return end

    def _heritage(self, at: int) -> int:
        end = self._type_at(at)
        while end is not None and self._text(end) == b",":
            at = end + 1
            end = self._type_at(at)
        return end if end is not None else at

    def _alias(self, at: int) -> int | None:
        """type A<B> = C"""
        if not self._declares(at):
            return None
        equals = self._generics_at(at + 2)
        return (
            self._ended(self._type_at(equals + 1), _CONTINUING)
            if self._text(equals) == b"="
            else None
        )

    def _variable(self, at: int) -> int | None:
        """const a: B = c, let d: E, f: G"""
        end = self._declarator(at + 1)
        while end is not None and self._text(end) == b",":
            following = self._declarator(end + 1)
            if following is None:
                break
            end = following
        return end

    def _declarator(self, at: int) -> int | None:
        colon = at + 2 if self._text(at + 1) == b"!" else at + 1
        if self._is_word(at) and self._text(colon) == b":":
            return self._ended(self._type_at(colon + 1), _CONTINUING)
        return None

    def _ended(self, end: int | None, signs: bytes) -> int | None:
        """End a type at the end of its line, where the grammar would continue it with these signs."""
        if end is not None and end < len(self.tokens) and self.tokens[end].starts_line:
            at = self.tokens[end - 1].end
            if self.tokens[end].text[:1] in signs and self.data[at] in b" \t\r\n":
                self.shadow[at : at + 1] = b";"
        return end

    def _annotation(self, at: int) -> int | None:
        """(a: B, c?: D): E => f, where only a type can follow; the rest is left to the grammar."""
        before = self._text(at - 1)
        if before == b"?" and self.tokens[at - 1].end < self.tokens[at].start:
            # The grammar does not accept a space in `?:`.
            span = self.tokens[at - 1].start, self.tokens[at].start
            if self._text(at + 1) != b":" and self._is_word(at - 2):
                self._hide(*span)
                self.forced.append(span)
        if before == b"?" or (before == b")" and self._is_declared(at - 1)):
            return self._type_at(at + 1)
        return None

    def _is_declared(self, closing: int) -> bool:
        """Whether a parameter list that ends here belongs to a function or method with a body."""
        end = self.reader.end_of_type(closing + 2)
        return end is not None and self._text(end) in (b"{", b"=>")

    def _assertion(self, at: int) -> int | None:
        """a as B"""
        token, before = self.tokens[at], self.tokens[at - 1] if at else None
        if before is None or token.starts_line or not self._ends_value(before):
            return None
        constant = self._text(at + 1) == b"const"
        end = self._ended(at + 2 if constant else self._type_at(at + 1), b"`([")
        if end is not None and self._text(end) == b"<":
            return end + 1  # at the start of a line it compares
        return end

    def _ends_value(self, token: Token) -> bool:
        if token.kind == "sign":
            return token.text in _VALUE_ENDS
        return token.text not in _NOT_VALUES and not (
            token.kind == "template" and token.text.endswith(b"${")
        )

    def _class(self, at: int) -> int | None:
        """class A<in B, out C>"""
        name = at + 1
        if self._is_word(name) and self._text(name) not in (b"extends", b"implements"):
            name += 1
        self._generics_at(name)
        return at + 1

    def _function(self, at: int) -> int | None:
        """function a<B>"""
        name = at + 1
        while self._text(name) == b"*" or self._is_word(name):
            name += 1
        opening = self._generics_at(name)
        closed = self.reader.end_of_brackets(opening) if self._text(opening) == b"(" else None
        if closed is not None and self._text(closed) == b":":
            self._ended(self._type_at(closed + 1), _CONTINUING)
        return at + 1

    def _export(self, at: int) -> int | None:
        """export type * from 'a', export type { b }, export default abstract class {}"""
        following = self._text(at + 1), self._text(at + 2)
        if following == (b"default", b"abstract") and self._text(at + 3) == b"class":
            abstract = self.tokens[at + 2]
            self._hide(abstract.start, abstract.end)
            self.forced.append((abstract.start, abstract.end))
        if following[0] == b"default":
            return self._nameless_signature(at) or self._default(at + 2)
        if following in ((b"type", b"*"), (b"type", b"{")):
            return self._export_types(at)
        return self._specifiers(at + 1) if following[0] == b"{" else None

    def _default(self, at: int) -> int | None:
        """export default class {} a: the grammar requires a line break or a semicolon between them."""
        while self._text(at) in (b"abstract", b"async", b"function", b"class", b"*"):
            at += 1
        parameters = self.reader.end_of_brackets(at) if self._text(at) == b"(" else at
        end = self.reader.end_of_brackets(parameters) if parameters is not None else None
        if end is not None and end < len(self.tokens) and not self.tokens[end].starts_line:
            gap = self.tokens[end - 1].end
            if self.data[gap : gap + 1] in (b" ", b"\t"):
                self.shadow[gap : gap + 1] = b";"
        return None

    def _nameless_signature(self, at: int) -> int | None:
        """export default function (a: B): C; the grammar requires a name"""
        keyword = at + 3 if self._text(at + 2) == b"async" else at + 2
        if self._text(keyword) != b"function" or (
            keyword > at + 2 and self.tokens[keyword].starts_line
        ):
            return None
        opening = keyword + 2 if self._text(keyword + 1) == b"*" else keyword + 1
        if self._text(opening) == b"<":
            opening = self.reader.end_of_arguments(opening) or opening
        end = self.reader.end_of_brackets(opening) if self._text(opening) == b"(" else None
        if end is not None and self._text(end) == b":":
            end = self.reader.end_of_type(end + 1)
        if end is None or self._text(end) == b"{":
            return None
        return self._erase_statement(at, end)

    def _import(self, at: int) -> int | None:
        """import a, { b } from 'c'; import('a').B<C>, which is a type if nothing is called"""
        if self._text(at + 1) == b"(":
            end = self.reader.end_of_type(at)
            if end is None or self._text(end - 1) != b">" or self._text(end)[:1] in (b"(", b"`"):
                return None
            return self._type_at(at)
        clause = at + 1
        while self._is_word(clause) or self._text(clause) == b",":
            clause += 1
        return self._specifiers(clause) if self._text(clause) == b"{" else None

    def _specifiers(self, at: int) -> int | None:
        """{ type a, as as type, 'b c' as d }: replaces names that are strings, `as` or `type`."""
        end = self.reader.end_of_brackets(at)
        words: list[Token] = []
        if end is not None:
            self.clauses.append((self.tokens[at].start, self.tokens[end - 1].end))
        for token in self.tokens[at + 1 : end] if end is not None else []:
            if token.kind != "sign":
                words.append(token)
                continue
            for name in words[len(words) % 2 == 0 :: 2]:
                if name.kind == "string" or name.text in (b"as", b"type"):
                    self._write_name(name.start, name.end)
            words = []
        return end

    def _export_types(self, at: int) -> int | None:
        end: int | None = at + 3
        if self._text(at + 2) == b"{":
            end = self.reader.end_of_brackets(at + 2)
            inside = self.tokens[at + 3 : end - 1] if end is not None else []
            if any(token.kind == "sign" and token.text != b"," for token in inside):
                return None
        elif self._text(at + 3) == b"as":
            end = at + 5
        if end is None:
            return None
        if self._text(end) == b"from":
            end += 2
        return self._erase_statement(at, end)

    def _erase_statement(self, at: int, end: int) -> int | None:
        """Hide a whole statement from the grammar and blank it, if it may end before `end`."""
        if end < len(self.tokens) and not (
            self.tokens[end].starts_line or self._text(end) in (b";", b"}")
        ):
            return None
        span = self.tokens[at].start, self.tokens[min(end, len(self.tokens)) - 1].end
        self._hide(*span)
        self.shadow[span[0] : span[0] + 1] = b";"
        self.forced.append(span)
        self.gaps.append(span[0])
        return end

    def _static(self, at: int) -> int | None:
        """static [a: B]: C, static readonly [a: B]: C, static declare a: B"""
        bracket = at + 2 if self._text(at + 1) == b"readonly" else at + 1
        signature = (
            self._text(bracket) == b"["
            and self._is_word(bracket + 1)
            and self._text(bracket + 2) == b":"
        )
        declared = self._text(at + 1) in (b"declare", b"abstract") and self._is_word(at + 2)
        if not (signature or (declared and not self.tokens[at + 2].starts_line)):
            return None
        token = self.tokens[at]
        self._hide(token.start, token.end)
        self.forced.append((token.start, token.end))
        self.gaps.append(token.start)
        return bracket if signature else at + 2

    def _accessor(self, at: int) -> int | None:
        """static accessor a = b"""
        if not self._is_word(at + 1) or self.tokens[at + 1].starts_line:
            return None
        self._hide(self.tokens[at].start, self.tokens[at].end)
        return at + 1

    def _arguments(self, at: int) -> int | None:
        """a<B>(), <A>(b) => c, <A>b; a<B>?.(), and a<B> at the end of a line"""
        end = self.reader.end_of_arguments(at)
        if (
            end is None
            and at
            and self._ends_value(self.tokens[at - 1])
            and self.reader.steps_left > 0
        ):
            # It must be a comparison. The grammar may parse `<` as a bracket, but never `>`.
            self.shadow[self.tokens[at].start : self.tokens[at].end] = b">"
        if end is None or end >= len(self.tokens):
            return None
        following = self.tokens[end]
        if at == 0 or not self._ends_value(self.tokens[at - 1]):
            return max(self._generics_at(at), at + 1)
        if (
            following.text[:1] in (b"(", b"`")
            or following.text == b"?."
            or ends_arguments(following)
        ):
            # Hidden, because the grammar might parse even `<T>` as comparisons.
            span = self.tokens[at].start, self.tokens[end - 1].end
            self._hide(*span)
            self.forced.append(span)
            return end
        return None

    def _ordinary_word(self, at: int) -> None:
        """namespace.a, abstract;, (as), static() {}"""
        token, before, following = self.tokens[at], self._text(at - 1), self._text(at + 1)
        last = at + 1 >= len(self.tokens)
        is_name = following in (_AFTER_A_NAME if token.text in _NAMES else _AFTER_A_MEMBER)
        if token.text == b"readonly" and following == b"(":
            is_name = before in (b"{", b"}", b";")
        if token.text == b"declare" and following == b"[":
            end = self.reader.end_of_brackets(at + 1)
            is_name = end is not None and self._text(end) not in _BEHIND_A_MEMBER
        if before not in (b".", b"?.", b"import", b"export") and (
            is_name or last or self.tokens[at + 1].starts_line
        ):
            self.shadow[token.end - 1 : token.end] = b"_"


_VISITS = {
    b"interface": Repair._interface,
    b"type": Repair._alias,
    b"const": Repair._variable,
    b"let": Repair._variable,
    b"var": Repair._variable,
    b"as": Repair._assertion,
    b"satisfies": Repair._assertion,
    b"class": Repair._class,
    b"function": Repair._function,
    b"export": Repair._export,
    b"import": Repair._import,
    b"static": Repair._static,
    b"accessor": Repair._accessor,
}


def repaired(data: bytes) -> Shadow:
    """The shadow of a source that could not be parsed."""
    repair = Repair(data)
    return Shadow(repair.run(), repair.forced, repair.gaps, repair.clauses)
