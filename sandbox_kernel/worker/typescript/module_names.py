"""The names that a module declares at its top level: which are values, and which only types."""

from __future__ import annotations

from tree_sitter import Node

from .blank import Page

_TYPES = frozenset(("interface_declaration", "type_alias_declaration"))
_VALUES = frozenset(
    "function_declaration generator_function_declaration class_declaration abstract_class_declaration"
    " enum_declaration function_signature".split()
)
_VARIABLES = frozenset(("lexical_declaration", "variable_declaration"))
_NAMESPACES = frozenset(("internal_module", "module"))
_NAMES = frozenset(("identifier", "shorthand_property_identifier_pattern"))


class ModuleNames:
    """The names that the statements of one module or namespace declare."""

    def __init__(self, page: Page, statements: list[Node]) -> None:
        self.page = page
        self.values: set[str] = set()
        self.types: set[str] = set()
        for statement in statements:
            self._statement(inner(statement))

    @property
    def only_types(self) -> set[str]:
        return self.types - self.values

    def _statement(self, node: Node) -> None:
        kind = node.type
        if kind == "ambient_declaration":
            for child in node.named_children:
                self._statement(inner(child))
        elif kind in _VARIABLES:
            self.values.update(map(self.page.name, bound_names(node)))
        elif kind in _TYPES or kind in _VALUES or kind in _NAMESPACES:
            self._named(node, kind)
        elif kind == "import_alias":
            self.values.add(self.page.name(node.named_children[0]))
        elif kind == "import_statement":
            values = {self.page.name(name) for name in imported_names(node)}
            self.values |= values
            self.types |= {self.page.name(name) for name in all_imported_names(node)} - values

    def _named(self, node: Node, kind: str) -> None:
        name = node.child_by_field_name("name")
        while name is not None and name.type == "nested_identifier":
            name = name.child_by_field_name("object")
        if name is not None:
            is_type = kind in _TYPES or (kind in _NAMESPACES and not is_instantiated(node))
            (self.types if is_type else self.values).add(self.page.name(name))


def inner(statement: Node) -> Node:
    """The declaration in `export …`, or the namespace that the grammar wraps in an expression."""
    declaration = (
        statement.child_by_field_name("declaration")
        if statement.type == "export_statement"
        else None
    )
    node = declaration or statement
    if node.type == "expression_statement":
        first = node.named_child(0)
        if first is not None and first.type == "internal_module":
            return first
    return node


def bound_names(declaration: Node) -> list[Node]:
    """const a = b, { c, d: [e] } = f"""
    tasks = [
        declarator.child_by_field_name("name")
        for declarator in declaration.named_children
        if declarator.type == "variable_declarator"
    ]
    names = []
    while tasks:
        node = tasks.pop()
        if node is None:
            continue
        if node.type in _NAMES:
            names.append(node)
        elif node.type == "pair_pattern":
            tasks.append(node.child_by_field_name("value"))
        elif node.type in ("assignment_pattern", "object_assignment_pattern"):
            tasks.append(node.child_by_field_name("left"))
        elif node.type.endswith("_pattern"):
            tasks.extend(node.named_children)
    return names


def imported_names(statement: Node) -> list[Node]:
    """import a, { b as c, type d } from 'e': a and c; empty for `import type`."""
    if any(child.type in ("type", "typeof") for child in statement.children):
        return []
    return all_imported_names(statement, without_types=True)


def all_imported_names(statement: Node, *, without_types: bool = False) -> list[Node]:
    """import a, { b as c, type d } from 'e': a, c and d"""
    clause = next(
        (child for child in statement.named_children if child.type == "import_clause"), None
    )
    names: list[Node] = []
    for part in clause.named_children if clause else []:
        if part.type == "identifier":
            names.append(part)
        elif part.type == "namespace_import":
            names.extend(part.named_children[-1:])
        elif part.type == "named_imports":
            for specifier in part.named_children:
                name = specifier_name(specifier)
                if name is not None and not (without_types and is_type_only(specifier)):
                    names.append(name)
    return names


def specifier_name(specifier: Node) -> Node | None:
    """The local name of `a`, `a as b` and `'c' as d`; None for comments."""
    if specifier.type != "import_specifier":
        return None
    return specifier.child_by_field_name("alias") or specifier.child_by_field_name("name")


def is_type_only(specifier: Node) -> bool:
    """type a, type a as b; but not `type` and `type as a`"""
    first = specifier.child(0)
    if first is None or first.is_named or first.type not in ("type", "typeof"):
        return False
    words = (specifier.text or b"").split() if specifier.child_count < 5 else []
    return not (len(words) == 3 and words[1] == b"as")


def is_instantiated(namespace: Node, known: dict[int, bool] | None = None) -> bool:
    """Whether a namespace exists at run time: whether any of its statements is not just a type.

    `known` caches the answers, because every nested namespace is asked about, too.
    """
    known = {} if known is None else known
    if namespace.id in known:
        return known[namespace.id]
    tasks: list[tuple[Node, Node | None]] = [(namespace, None)]
    around: dict[int, Node | None] = {}
    while tasks:
        node, outer = tasks.pop()
        around[node.id] = outer
        within = [part for part in _live_parts(node) if part.type in _NAMESPACES]
        if known.get(node.id) or len(within) < len(_live_parts(node)):
            while outer is not None:
                known[outer.id] = True
                outer = around[outer.id]
            known[node.id] = True
            return True
        tasks.extend((part, node) for part in within)
    known.update(dict.fromkeys(around, False))
    return False


def _live_parts(namespace: Node) -> list[Node]:
    """The statements of a namespace that may exist at run time."""
    body = namespace.child_by_field_name("body")
    parts = []
    for statement in body.named_children if body else []:
        part = inner(statement)
        if part.type == "ambient_declaration":
            part = inner(part.named_child(0) or part)
        if (
            part.type not in _TYPES
            and part.type != "comment"
            and not _is_private_import(statement, part)
        ):
            parts.append(part)
    return parts


def _is_private_import(statement: Node, part: Node) -> bool:
    return (
        part.type in ("import_alias", "import_statement") and statement.type != "export_statement"
    )
