"""Rewrites the body of a namespace: its exports become properties of the namespace object.

`namespace N { export const a = 1; export function f() {} }` reads
`var N;(function(N_1){ N_1.a = 1; function f() {}N_1.f=f; })(N||(N={}));` afterwards. An exported variable is only a
property, so that it may change; exports of merged parts are properties of the same object.
"""

from __future__ import annotations

from itertools import pairwise
from typing import NamedTuple

from tree_sitter import Node

from .blank import Page
from .grammar import is_whole
from .module_names import bound_names, inner
from .scopes import Members

_VARIABLES = frozenset(("lexical_declaration", "variable_declaration"))
_NAMED = frozenset(
    "function_declaration generator_function_declaration class_declaration abstract_class_declaration".split()
)
_OBJECTS = frozenset(("enum_declaration", "internal_module", "module"))
_PATTERNS = frozenset(("object_pattern", "array_pattern"))

Path = tuple[str | int, ...]
"""Identifies a namespace: the start of its block and its name, then the names of exported ones in it."""


class Segment(NamedTuple):
    """One name of `namespace A.B`, and the function parameter that holds its object."""

    name: str
    holder: str
    path: Path


class Namespaces:
    """The exports of all namespaces of a module, by path: merged parts see each other's exports."""

    def __init__(self, page: Page) -> None:
        self.page = page
        self.exports: dict[Path, set[str]] = {}
        self.bodies: list[tuple[int, list[Segment], set[str]]] = []

    def enter(self, body: Node, segments: list[Segment]) -> None:
        """Note one part of a namespace and everything it exports."""
        own: set[str] = set()
        for outer, within in pairwise(segments):
            self.exports.setdefault(outer.path, set()).add(within.name)
        exported = self.exports.setdefault(segments[-1].path, set())
        for statement in body.named_children:
            if statement.type == "export_statement":
                self._exported(inner(statement), own, exported)
        self.bodies.append((body.start_byte, segments, own))

    def _exported(self, declaration: Node, own: set[str], exported: set[str]) -> None:
        kind = declaration.type
        if kind == "ambient_declaration":
            self._exported(inner(declaration.named_child(0) or declaration), own, exported)
        elif kind in _VARIABLES:
            own.update(map(self.page.name, bound_names(declaration)))
        elif kind == "import_alias":
            own.add(self.page.name(declaration.named_children[0]))
        elif kind in _NAMED or kind in _OBJECTS:
            exported.update(self._first_name(declaration))
        exported |= own

    def _first_name(self, declaration: Node) -> list[str]:
        name = declaration.child_by_field_name("name")
        while name is not None and name.type == "nested_identifier":
            name = name.child_by_field_name("object")
        return [self.page.name(name)] if name is not None else []

    def members(self) -> dict[int, list[Members]]:
        """For each body, the names that are properties there: of its namespace and of outer ones."""
        found: dict[int, list[Members]] = {}
        for start, segments, own in self.bodies:
            found[start] = [
                Members(segment.holder, frozenset(), self.exports.get(segment.path, frozenset()))
                for segment in segments
            ]
            last = segments[-1]
            found[start][-1] = Members(last.holder, own, self.exports[last.path] - own)
        return found

    def write(self, body: Node, holder: str) -> None:
        """Replace `export` in each statement of the body by an assignment to a property."""
        for statement in body.named_children:
            declaration = inner(statement)
            if statement.type != "export_statement" or self.page.is_gone(statement):
                continue
            if not is_whole(statement, self.page.data):
                continue  # left as it is, so that the engine refuses it
            if declaration.type in _VARIABLES:
                self._variables(statement, declaration)
            elif declaration.type in _NAMED:
                self._named(statement, declaration, holder)
            elif declaration.type == "import_alias":
                self.page.blank(statement.start_byte, declaration.named_children[0].start_byte)

    def _named(self, statement: Node, declaration: Node, holder: str) -> None:
        """export function f() {}  export class C {}"""
        self.page.blank(statement.start_byte, declaration.start_byte)
        for name in self._first_name(declaration):
            self.page.insert(self.page.end(declaration), f";{holder}.{name}={name};", order=-1)

    def _variables(self, statement: Node, declaration: Node) -> None:
        """export let a = 1, b, { c } = d: only what has a value is written."""
        declarators = [
            child for child in declaration.named_children if child.type == "variable_declarator"
        ]
        kept = [child for child in declarators if child.child_by_field_name("value")]
        if not kept:
            self.page.blank(statement.start_byte, statement.end_byte)
            return
        self.page.blank(statement.start_byte, kept[0].start_byte)
        commas = [child.start_byte for child in declaration.children if child.type == ","]
        for declarator in declarators:
            if declarator not in kept:
                self.page.blank(declarator.start_byte, declarator.end_byte)
        for comma in commas:
            self._comma(comma, declarators, kept)
        for declarator in kept:
            self._pattern(declarator, declarator == kept[0])

    def _comma(self, comma: int, declarators: list[Node], kept: list[Node]) -> None:
        following = next(child for child in declarators if child.start_byte > comma)
        if following not in kept or following == kept[0]:
            self.page.blank(comma, comma + 1)

    def _pattern(self, declarator: Node, first: bool) -> None:
        name = declarator.child_by_field_name("name")
        if name is not None and name.type in _PATTERNS:
            self.page.insert(name.start_byte, ";(" if first else "(")
            self.page.insert(self.page.end(declarator), ")", order=-1)
