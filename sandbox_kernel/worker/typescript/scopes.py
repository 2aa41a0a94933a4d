"""Which declaration a name refers to: as much of JavaScript's scoping as the rewrites need.

Two rewrites need it. An import is dropped if none of its names is used as a value, although a local variable may have
the same name; and a name exported by a namespace, or an enum member, is written as a property wherever no closer
declaration hides it. The walk keeps its own stack, so that deep sources do not exhaust Python's recursion.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from typing import Final, NamedTuple

from tree_sitter import Node

from .blank import Page
from .grammar import holds_any

FEW_NAMES = 40  # up to this many names, it is quicker to search the text first
_MOST_PLACES = 1 << 16
FREE: Final = "<free>"
"""Not declared in the code that was walked."""
LOCAL: Final = "<local>"
"""Declared by an ordinary declaration."""

_TYPES = frozenset(
    "type_annotation type_arguments type_parameters implements_clause asserts_annotation comment string"
    " type_predicate_annotation interface_declaration type_alias_declaration ambient_declaration number"
    " function_signature method_signature abstract_method_signature index_signature regex import_statement".split()
)
_LET = frozenset(("lexical_declaration",))
_NAMED = frozenset(
    "function_declaration generator_function_declaration class_declaration abstract_class_declaration"
    " enum_declaration".split()
)
_FUNCTIONS = frozenset(
    "function_declaration generator_function_declaration function_expression generator_function arrow_function"
    " method_definition class_static_block".split()
)
_OWN_NAME = frozenset(("function_expression", "generator_function", "class"))
_BLOCKS = frozenset(
    "statement_block for_statement for_in_statement switch_body catch_clause enum_body class".split()
)
_PATTERNS = frozenset("object_pattern array_pattern rest_pattern pair_pattern".split())
_DEFAULTS = frozenset("assignment_pattern object_assignment_pattern".split())
_SHORTHANDS = frozenset(
    "shorthand_property_identifier shorthand_property_identifier_pattern".split()
)


class Reference(NamedTuple):
    """A use of a name, and its meaning: FREE, LOCAL, or the object it is a property of."""

    node: Node
    name: str
    meaning: str
    shorthand: bool


class Members(NamedTuple):
    """Names that are properties of an object within one body."""

    object: str
    own: Set[str]
    """Declared in this body as properties: no other declaration in it can hide them."""
    others: Set[str]
    """Declared in another part of the same namespace or enum."""


class _Scope:
    __slots__ = ("hoists", "meanings", "own")

    def __init__(self, hoists: bool, members: Sequence[Members]) -> None:
        self.hoists = hoists
        self.own: Set[str] = members[-1].own if members else frozenset()
        self.meanings: dict[str, str] = {}
        for part in members:
            self.meanings.update(dict.fromkeys([*part.own, *part.others], part.object))


_Task = tuple[Node | None, _Scope | None]


class Walk:
    """Notes scopes and uses in one pass; `references` replays them once all declarations are known."""

    def __init__(
        self, page: Page, names: Set[str], members: Mapping[int, Sequence[Members]]
    ) -> None:
        self.page, self.names, self.members = page, names, members
        self.places: list[int] | None = None
        self.scopes = [_Scope(True, ())]
        self.hoisting = [self.scopes[0]]
        self.notes: list[_Scope | Reference | None] = [self.scopes[0]]
        self.tasks: list[_Task] = []
        self.bodies: set[int] = set()

    def references(self, root: Node) -> list[Reference]:
        self.places = _places(self.page.data, self.names, root)
        self._walk(root)
        return self._replay()

    def _walk(self, root: Node) -> None:
        tasks = self.tasks
        tasks.append((root, None))
        while tasks:
            node, binder = tasks.pop()
            if node is None:
                self._leave()
                continue
            kind = node.type
            if kind == "identifier" or kind in _SHORTHANDS:
                self._name(node, kind, binder)
            elif kind not in _TYPES and node.named_child_count:
                self._visit(node, kind, binder)

    def _visit(self, node: Node, kind: str, binder: _Scope | None) -> None:
        if kind in _PATTERNS or kind in _DEFAULTS:
            self._pattern(node, kind, binder)
            return
        if kind in _NAMED:
            self._declare(node.child_by_field_name("name"), self.scopes[-1])
        if kind in _FUNCTIONS or kind in _BLOCKS:
            self._enter(node, kind in _FUNCTIONS)
        special = _SPECIAL.get(kind)
        if special:
            special(self, node)
        else:
            self._push(node.named_children)

    def _enter(self, node: Node, hoists: bool) -> None:
        members = self.members.get(node.start_byte, ())
        # A namespace's body becomes a function, so a `var` in it is local to it.
        scope = _Scope(hoists or bool(members) or node.id in self.bodies, members)
        self.scopes.append(scope)
        if scope.hoists:
            self.hoisting.append(scope)
        self.notes.append(scope)
        self.tasks.append((None, None))
        body = node.child_by_field_name("body") if hoists else None
        if body is not None:
            # Parameters have a scope of their own: their defaults do not see the body's declarations.
            self.bodies.add(body.id)
        if node.type in _OWN_NAME:
            self._declare(node.child_by_field_name("name"), scope)

    def _leave(self) -> None:
        if self.scopes.pop().hoists:
            self.hoisting.pop()
        self.notes.append(None)

    def _push(self, nodes: list[Node], binder: _Scope | None = None) -> None:
        self.tasks.extend((node, binder) for node in reversed(nodes) if self._is_mentioned_in(node))

    def _is_mentioned_in(self, node: Node) -> bool:
        """Whether the node may contain one of the names; if not, it need not be walked."""
        return self.places is None or holds_any(node, self.places)

    def _declare(self, node: Node | None, scope: _Scope) -> None:
        if node is None:
            return
        name = self.page.name(node)
        if (
            name in self.names
            and name not in scope.own
            and not self.page.is_blank_or_comment(node.start_byte)
        ):
            scope.meanings[name] = LOCAL

    def _name(self, node: Node, kind: str, binder: _Scope | None) -> None:
        if binder is not None:
            self._declare(node, binder)
        name = self.page.name(node)
        # Also noted where it is declared: if it is declared as a property, it must be written as one.
        if name in self.names and not self.page.is_blank_or_comment(node.start_byte):
            self.notes.append(Reference(node, name, FREE, kind in _SHORTHANDS))

    def _pattern(self, node: Node, kind: str, binder: _Scope | None) -> None:
        if kind == "pair_pattern":
            key, value = node.child_by_field_name("key"), node.child_by_field_name("value")
            self._push([value] if value else [], binder)
            self._push([key] if key and key.type == "computed_property_name" else [])
        elif kind in _DEFAULTS:
            left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
            self._push([right] if right else [])
            self._push([left] if left else [], binder)
        else:
            self._push(node.named_children, binder)

    def _declaration(self, node: Node) -> None:
        """const a = b, {c} = d"""
        scope = self.scopes[-1] if node.type in _LET else self.hoisting[-1]
        for declarator in reversed(node.named_children):
            if declarator.type != "variable_declarator":
                continue
            name, value = (
                declarator.child_by_field_name("name"),
                declarator.child_by_field_name("value"),
            )
            self._push([value] if value else [])
            self._push([name] if name else [], scope)

    def _for_in(self, node: Node) -> None:
        """for (const a of b) c"""
        kind = node.child_by_field_name("kind")
        left = node.child_by_field_name("left")
        rest = [child for child in node.named_children if child != left]
        self._push(rest)
        binder = None
        if kind is not None:
            binder = self.hoisting[-1] if kind.type == "var" else self.scopes[-1]
        self._push([left] if left else [], binder)

    def _parameter(self, node: Node) -> None:
        """(private a: T = b)"""
        pattern, value = node.child_by_field_name("pattern"), node.child_by_field_name("value")
        self._push([value] if value else [])
        self._push([pattern] if pattern else [], self.scopes[-1])

    def _arrow(self, node: Node) -> None:
        """a => b"""
        parameter = node.child_by_field_name("parameter")
        self._push([child for child in node.named_children if child != parameter])
        self._push([parameter] if parameter else [], self.scopes[-1])

    def _catch(self, node: Node) -> None:
        """catch ({a}) { b }"""
        parameter = node.child_by_field_name("parameter")
        self._push([child for child in node.named_children if child != parameter])
        self._push([parameter] if parameter else [], self.scopes[-1])

    def _after_name(self, node: Node) -> None:
        """function a() { b }"""
        name = node.child_by_field_name("name")
        self._push([child for child in node.named_children if child != name])

    def _namespace(self, node: Node) -> None:
        """namespace a.b { c }"""
        name, body = node.child_by_field_name("name"), node.child_by_field_name("body")
        while name is not None and name.type != "identifier":
            name = name.child_by_field_name("object")
        self._declare(name, self.scopes[-1])
        self._push([body] if body else [])

    def _alias(self, node: Node) -> None:
        """import a = b.c"""
        names, scope = node.named_children, self.scopes[-1]
        if names and self.page.name(names[0]) not in scope.own:
            scope.meanings[self.page.name(names[0])] = alias_meaning(node)
            names = names[1:]
        self._push(names)

    def _specifier(self, node: Node) -> None:
        """export { a as b }"""
        name = node.child_by_field_name("name")
        self._push([name] if name else [])

    def _enum_member(self, node: Node) -> None:
        """a = b"""
        value = node.child_by_field_name("value")
        self._push([value] if value else [])

    def _export(self, node: Node) -> None:
        """export { a } from 'b' uses no name of this module"""
        if node.child_by_field_name("source") is None:
            self._push(node.named_children)

    def _replay(self) -> list[Reference]:
        found: list[Reference] = []
        meanings: dict[str, list[str]] = {}
        open_scopes: list[_Scope] = []
        for note in self.notes:
            if isinstance(note, Reference):
                found.append(note._replace(meaning=meanings.get(note.name, [FREE])[-1]))
            elif note is not None:
                open_scopes.append(note)
                for name, meaning in note.meanings.items():
                    meanings.setdefault(name, [FREE]).append(meaning)
            else:
                for name in open_scopes.pop().meanings:
                    meanings[name].pop()
        return found


_SPECIAL: dict[str, Callable[[Walk, Node], None]] = {
    "lexical_declaration": Walk._declaration,
    "variable_declaration": Walk._declaration,
    "for_in_statement": Walk._for_in,
    "required_parameter": Walk._parameter,
    "optional_parameter": Walk._parameter,
    "arrow_function": Walk._arrow,
    "catch_clause": Walk._catch,
    "function_declaration": Walk._after_name,
    "generator_function_declaration": Walk._after_name,
    "function_expression": Walk._after_name,
    "generator_function": Walk._after_name,
    "class_declaration": Walk._after_name,
    "abstract_class_declaration": Walk._after_name,
    "enum_declaration": Walk._after_name,
    "internal_module": Walk._namespace,
    "module": Walk._namespace,
    "import_alias": Walk._alias,
    "export_specifier": Walk._specifier,
    "enum_assignment": Walk._enum_member,
    "export_statement": Walk._export,
}


def _places(data: bytes, names: Set[str], root: Node) -> list[int] | None:
    """Where these names occur, also within longer words; None if searching is not worthwhile."""
    start, end = root.start_byte, root.end_byte
    if len(names) > FEW_NAMES or "" in names or data.find(b"\\u", start, end) >= 0:
        return None
    places = []
    for name in names:
        for at in written(data, name.encode("utf-8", "surrogatepass"), start, end):
            places.append(at)
            if len(places) > _MOST_PLACES:
                return None
    return sorted(places)


def written(data: bytes, name: bytes, start: int, end: int) -> Iterator[int]:
    """Where a name occurs, also within longer words."""
    at = data.find(name, start, end)
    while at >= 0:
        yield at
        at = data.find(name, at + len(name), end)


def alias_meaning(alias: Node) -> str:
    """The meaning of the name that `import a = b.c` declares."""
    return f"<alias {alias.start_byte}>"


def uses(
    page: Page, root: Node, names: Set[str], members: Mapping[int, Sequence[Members]] | None = None
) -> list[Reference]:
    """Every use of one of `names` as a value below `root`, with its meaning."""
    return Walk(page, names, members or {}).references(root)
