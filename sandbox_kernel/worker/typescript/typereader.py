"""Reads one type from tokens, to find where it ends.

Used where tree-sitter's grammar lacks something (variance, `import('a').B<C>`, members without
separators …); the type is then replaced by a single long name. Depth is bounded: a type that is too
deep counts as no type.
"""

from __future__ import annotations

from collections.abc import Callable

from .tokens import Tokenizer, ends_arguments
from .typemembers import NotAType, TypeMembers

_DEEPEST = 80
_PREFIXES = frozenset(b"keyof unique readonly infer asserts typeof abstract new".split())
_NOT_A_TYPE = frozenset(
    b"const let var function class extends implements return if else for while in instanceof as"
    b" satisfies is".split()
)
_FEW, _SOME, _MANY = 6, 40, 400


class TypeReader(TypeMembers):
    """Each method takes the index of a token and returns the index after what it read."""

    def end_of_type(self, at: int) -> int | None:
        """The index after the type that starts at `at`; None if there is none."""
        return self._try(self._type, at)

    def end_of_arguments(self, at: int) -> int | None:
        """The index after `<…>`."""
        return self._try(self._angles, at)

    def end_of_members(self, at: int) -> int | None:
        """The index after the body of an interface."""
        return self._try(self._members, at)

    def end_of_brackets(self, at: int) -> int | None:
        """The index after the partner of a bracket."""
        return self._try(self._balanced, at)

    def _try(self, read: Callable[[int], int], at: int) -> int | None:
        self.depth = 0
        if self.steps_left < 0:
            return None
        try:
            end = read(at)
            if end <= len(self.tokens):
                return end
            self.ran_out = True
        except IndexError:
            self.ran_out = True
        except (NotAType, RecursionError):
            pass
        return None

    def _type(self, at: int) -> int:
        self.depth += 1
        self.steps_left -= 1
        if self.depth > _DEEPEST:
            raise NotAType
        at = self._union(at)
        while self._text(at) == b"is" and not self._starts_line(at):
            at = self._union(at + 1)
        if self._text(at) == b"extends" and not self._starts_line(at):
            at = self._conditional(at)
        self.depth -= 1
        return at

    def _conditional(self, at: int) -> int:
        """extends A ? B : C"""
        at = self._union(at + 1)
        if self._text(at) == b"extends":
            at = self._union(at + 1)
        if self._text(at) != b"?":
            return at
        return self._type(self._expect(self._type(at + 1), b":"))

    def _union(self, at: int) -> int:
        if self._text(at) in (b"|", b"&"):
            at += 1
        at = self._postfix(at)
        while self._text(at) in (b"|", b"&"):
            at = self._postfix(at + 1)
        return at

    def _postfix(self, at: int) -> int:
        """A[], A['b']"""
        at = self._primary(at)
        while not self._starts_line(at) and self._text(at) == b"[":
            at = at + 1 if self._text(at + 1) == b"]" else self._type(at + 1)
            at = self._expect(at, b"]")
        return at

    def _primary(self, at: int) -> int:
        token = self.tokens[at]
        if token.text == b"<":
            return self._function(self._angles(at))
        if token.text == b"(":
            return self._parenthesized(at)
        if token.text == b"{":
            return self._members(at)
        if token.text == b"[":
            return self._tuple(at)
        if token.text == b"-" and self.tokens[at + 1].kind == "number":
            return at + 2
        if token.kind == "template":
            return self._template(at)
        if token.kind in ("string", "number"):
            return at + 1
        if token.kind == "word" and token.text not in _NOT_A_TYPE:
            return self._worded(at)
        raise NotAType

    def _parenthesized(self, at: int) -> int:
        """(a: A) => B, or (A)"""
        end = self._balanced(at)
        if self._text(end) == b"=>":
            return self._function(at)
        return self._expect(self._type(at + 1), b")")

    def _function(self, at: int) -> int:
        return self._type(self._expect(self._parameters(at), b"=>"))

    def _worded(self, at: int) -> int:
        word, following = self._text(at), self._text(at + 1)
        if word == b"new" or (word == b"abstract" and following == b"new"):
            at += 1 if word == b"new" else 2
            return self._function(self._angles(at) if self._text(at) == b"<" else at)
        if word == b"import" and following == b"(":
            return self._dotted(self._imported(at + 2))
        if word in _PREFIXES and self._starts_a_type(at + 1):
            return self._postfix(at + 1)
        return self._dotted(at + 1)

    def _imported(self, at: int) -> int:
        """'a'), 'a', { with: … })"""
        if self.tokens[at].kind != "string":
            raise NotAType
        at += 1
        if self._text(at) == b"," and self._text(at + 1) == b"{":
            at = self._balanced(at + 1)
        return self._expect(at, b")")

    def _starts_a_type(self, at: int) -> bool:
        if at >= len(self.tokens):
            return False
        token = self.tokens[at]
        if token.kind == "word":
            return token.text not in _NOT_A_TYPE
        return token.kind != "sign" or token.text in (b"(", b"[", b"{", b"<")

    def _dotted(self, at: int) -> int:
        while self._text(at) == b".":
            if self.tokens[at + 1].kind != "word":
                raise NotAType
            at += 2
        if self._text(at) == b"<" and not self._starts_line(at):
            return self._angles(at)
        return at

    def _template(self, at: int) -> int:
        while self.tokens[at].text.endswith(b"${"):
            at = self._type(at + 1)
            if self.tokens[at].kind != "template":
                raise NotAType
        return at + 1

    def _angles(self, at: int) -> int:
        """<in out T extends A = B, const C>"""
        at = self._expect(at, b"<")
        while self._text(at) != b">":
            at = self._type_parameter(at)
            if self._text(at) == b",":
                at += 1
            elif self._text(at) != b">":
                raise NotAType
        return at + 1

    def _type_parameter(self, at: int) -> int:
        while self._text(at) in (b"in", b"out", b"const") and self.tokens[at + 1].kind == "word":
            if self._text(at) == b"out" and self._text(at + 1) == b"extends":
                break
            at += 1
        at = self._type(at)
        if self._text(at) == b"=":
            at = self._type(at + 1)
        return at


def end_of_type(data: bytes, start: int) -> int | None:
    """The position after the type that starts at a position; None if there is none or it is too long."""
    for count in (_SOME, _MANY):
        tokens = Tokenizer(data).read_some(start, count)
        reader = TypeReader(tokens)
        end = reader.end_of_type(0)
        if not reader.ran_out:
            break
    return None if end is None or end == _MANY else tokens[end - 1].end


def calls_with_types(data: bytes, start: int) -> bool:
    """Whether TypeScript reads type arguments at this `<`, even if the grammar reads a comparison.

    A few tokens almost always suffice to show that it does not.
    """
    for count in (_FEW, _MANY):
        tokens = Tokenizer(data).read_some(start, count)
        reader = TypeReader(tokens)
        end = reader.end_of_arguments(0)
        if end is not None and end < len(tokens):
            following = tokens[end]
            return following.text[:1] in (b"(", b"`") or ends_arguments(following)
        if not reader.ran_out:
            return False
    return False
