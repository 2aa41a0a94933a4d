"""A small visitor for each erasable construct. The docstring of each shows what it erases."""

from __future__ import annotations

import re

from tree_sitter import Node

from . import hazards
from .blank import Page
from .grammar import Found
from .grouping import Grouping
from .typereader import end_of_type

_TYPES = (
    "type_annotation type_arguments type_parameters implements_clause asserts_annotation"
    " type_predicate_annotation"
).split()
_ANNOTATIONS = frozenset(_TYPES) - {"type_arguments", "type_parameters", "implements_clause"}
_STATEMENTS = (
    "interface_declaration type_alias_declaration ambient_declaration function_signature"
).split()
_ASSERTING = ("as", "satisfies")
# Types that end in another type. With `[c]` on the line after `a as b`, there are two statements.
_ENDS_IN_A_TYPE = frozenset(
    "union_type intersection_type readonly_type index_type_query conditional_type function_type"
    " constructor_type type_query".split()
)
_CUT = frozenset(("lookup_type", "array_type", "generic_type"))
_COMPARES = re.compile(rb"[<>]|\+(?!\+)|-(?!-)")
_STARTS_A_VALUE = re.compile(
    rb"(?!(?:in|instanceof|as|satisfies|else|while|extends|implements)(?![\w$]))"
    rb"[\w$\x80-\xff\\\"'#@{\[~]|!(?!=)"
)


def annotated_groups(found: Found) -> list[Node]:
    """(a: T), which the grammar accepts as an expression and TypeScript does not."""
    return [
        node
        for node in found.get("parenthesized_expression", ())
        if node.child_by_field_name("type") is not None
    ]


class Eraser:
    """Blanks types, and notes the gaps that this leaves between statements or members."""

    def __init__(self, page: Page, root: Node, found: Found, gaps: list[int]) -> None:
        self.page, self.root, self.found, self.gaps = page, root, found, gaps
        self.grouping: Grouping | None = None
        self.spared: set[int] = set()

    def run(self) -> None:
        for node in self._assertions():
            self._assertion(node)
        self._spare()
        self._types()
        self._marks()
        self._statements()

    def _assertions(self) -> list[Node]:
        return [
            *self.found.get("as_expression", ()),
            *self.found.get("satisfies_expression", ()),
        ]

    def _types(self) -> None:
        """: T  ?: T  !: T  <T>  implements T  asserts a is T"""
        data, blank, spared = self.page.data, self.page.blank, self.spared
        for kind in _TYPES:
            marked = kind in _ANNOTATIONS
            for node in self.found.get(kind, ()):
                start, end = node.start_byte, node.end_byte
                if start in spared:
                    continue
                if marked and data[start - 1] in b"?! \t\r\n/":
                    start = self._mark_before(start)
                blank(start, end)

    def _mark_before(self, start: int) -> int:
        before = self.page.before(start)
        return before if before >= 0 and self.page.data[before] in b"?!" else start

    def _spare(self) -> None:
        """f(a < b, c > +d): comparisons in TypeScript; the grammar reads type arguments.

        The grammar also accepts `(a: T)` as an expression, which is not valid TypeScript.
        """
        for node in annotated_groups(self.found):
            annotation = node.child_by_field_name("type")
            self.spared.add(annotation.start_byte if annotation else -1)
        for kind in ("instantiation_expression", "new_expression"):
            for node in self.found.get(kind, ()):
                arguments = node.child_by_field_name("type_arguments")
                if arguments is None or node.child_by_field_name("arguments") is not None:
                    continue
                if not self._may_follow_arguments(arguments.end_byte):
                    self.spared.add(arguments.start_byte)

    def _may_follow_arguments(self, end: int) -> bool:
        following = self.page.after(end)
        if _COMPARES.match(self.page.data, following):
            return False
        starts_value = _STARTS_A_VALUE.match(self.page.data, following)
        return self.page.breaks(end, following) or not starts_value

    def _assertion(self, node: Node) -> None:
        """a as T, a as const, a satisfies T"""
        children = node.children
        keyword = next((child for child in children[1:] if child.type in _ASSERTING), None)
        if keyword is None:
            return
        end = self._end_of_asserted(children[-1])
        if self.page.data[end : end + 1] in (b".", b"<"):
            # The grammar ends the type in `a as b.c.d` after the second name.
            end = end_of_type(self.page.data, keyword.end_byte) or end
        if hazards.may_erase_assertion(self.page, end):
            self.page.blank(keyword.start_byte, end)
            # Type arguments must start on the line of their type; a `<` on the next one compares.
            if self.page.breaks(end, self.page.after(end)):
                self.spared.add(self.page.after(end))
            if hazards.end_assertion(self.page, keyword, end):
                self.grouping = self.grouping or Grouping(self.page, self.root, self._assertions())
                self.grouping.keep(node)

    def _end_of_asserted(self, node: Node) -> int:
        """Where TypeScript ends a type that the grammar continues after a line break."""
        end = node.end_byte
        while True:
            if node.type in _CUT:
                element = node.children[0]
                if self.page.breaks(element.end_byte, self.page.after(element.end_byte)):
                    end = element.end_byte
                node = element
            elif node.type in _ENDS_IN_A_TYPE:
                node = node.children[-1]
            else:
                return end

    def _marks(self) -> None:
        """a!  (a?)  { m?() {} }  abstract class  (this: T, a)"""
        for node in self.found.get("non_null_expression", ()):
            self.page.blank(node.end_byte - 1, node.end_byte)
        for kind, field in (("optional_parameter", "pattern"), ("method_definition", "name")):
            for node in self.found.get(kind, ()):
                self._optional(node.child_by_field_name(field))
        for node in self.found.get("abstract_class_declaration", ()):
            self._abstract(node)
        for node in self.found.get("formal_parameters", ()):
            self._this(node)

    def _optional(self, name: Node | None) -> None:
        if name is not None:
            mark = self.page.after(name.end_byte)
            if self.page.data[mark : mark + 1] == b"?":
                self.page.blank(mark, mark + 1)

    def _abstract(self, node: Node) -> None:
        keyword = next((child for child in node.children if child.type == "abstract"), None)
        if keyword is not None and not self._is_alone(keyword):
            self.page.blank(keyword.start_byte, keyword.end_byte)

    def _this(self, parameters: Node) -> None:
        start = self.page.after(parameters.start_byte + 1)
        if self.page.data[start : start + 4] != b"this":
            return
        first = parameters.named_child(0)
        while first is not None and first.type == "comment":
            first = first.next_named_sibling
        pattern = first.child_by_field_name("pattern") if first else None
        if first is None or pattern is None or first.has_error:
            return
        if pattern.type == "this":
            following = self.page.after(first.end_byte)
            comma = self.page.data[following : following + 1] == b","
            self.page.blank(start, following + 1 if comma else first.end_byte)

    def _statements(self) -> None:
        """interface, type, declare, function f(): T;  with or without export"""
        for kind in _STATEMENTS:
            for node in self.found.get(kind, ()):
                keyword = node.child(0)
                if keyword is not None and not self._is_alone(keyword):
                    self._erase(node)
        for node in self.found.get("export_statement", ()):
            declaration = node.child_by_field_name("declaration")
            if declaration is None or declaration.type not in _STATEMENTS or node.has_error:
                continue
            keyword = declaration.child(0)
            if keyword is not None and not self._is_alone(keyword):
                self._erase(node)

    def _is_alone(self, keyword: Node) -> bool:
        """Whether a keyword ends its line; then it is an ordinary name."""
        if keyword.type not in ("interface", "declare", "abstract", "type"):
            return False
        return self.page.breaks(keyword.end_byte, self.page.after(keyword.end_byte))

    def _erase(self, node: Node) -> None:
        self.page.blank(node.start_byte, node.end_byte)
        self.gaps.append(node.start_byte)
