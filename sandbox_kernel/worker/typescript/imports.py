"""Drops imports and exports that are only types, as the TypeScript compiler does.

A name counts as used if it occurs anywhere in the code that remains, unless it refers to a closer declaration of the
same name there. Scopes are only computed for names that are declared more than once.
"""

from __future__ import annotations

from tree_sitter import Node

from . import refuse
from .blank import Page, Span
from .grammar import Found
from .module_names import ModuleNames, imported_names, is_type_only, specifier_name
from .scopes import FEW_NAMES, FREE, alias_meaning, uses, written

_WORD_BYTE = frozenset(
    b"_$\\0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
) | frozenset(range(0x80, 0x100))
_VALUE_KINDS = frozenset(("identifier", "shorthand_property_identifier"))
# Parents in which a name may be declared rather than used; then scopes decide.
_BINDING_PARENTS = frozenset(
    "variable_declarator required_parameter optional_parameter object_pattern array_pattern rest_pattern"
    " assignment_pattern pair_pattern object_assignment_pattern function_declaration enum_declaration"
    " generator_function_declaration function_expression generator_function internal_module module"
    " nested_identifier import_alias arrow_function catch_clause for_in_statement".split()
)
_MOST_LOOKUPS = 400  # in the tree; after that scopes decide
_CONTESTED_KINDS = frozenset(("type_identifier", "shorthand_property_identifier_pattern"))


class Imports:
    """The import and export statements of one module."""

    def __init__(self, page: Page, root: Node, found: Found, gaps: list[int]) -> None:
        self.page, self.root, self.found, self.gaps = page, root, found, gaps
        self.imports: list[Node] = []
        self.exports: list[Node] = []
        self.aliases: list[Node] = []

    def _left(self, kind: str) -> list[Node]:
        return [node for node in self.found.get(kind, ()) if not self.page.is_gone(node)]

    def erase_type_only(self) -> None:
        """import type …, export type …: dropped in any case."""
        self.imports, self.exports = self._left("import_statement"), self._left("export_statement")
        self.aliases = self._left("import_alias")
        for node in self.imports:
            if any(child.type in ("type", "typeof") for child in node.children):
                self._drop(node)
            elif any(child.type == "import_require_clause" for child in node.named_children):
                raise refuse.refusal(self.page.data, node, refuse.REQUIRE)
        for node in self.exports:
            if _is_export_of_types(node):
                self._drop(node)
            elif any(child.type == "=" for child in node.children[:2]):
                raise refuse.refusal(self.page.data, node, refuse.EXPORT_ASSIGNMENT)

    def elide(self) -> None:
        """Drop what is not used as a value. By now all types are blanked and the page is settled."""
        self._elide_exports()
        self.page.settle()
        names = [
            {name.start_byte: self.page.name(name) for name in imported_names(node)}
            for node in self.imports
        ]
        candidates = {name for imported in names for name in imported.values()}
        used = self._used(candidates) if candidates else set()
        for node, imported in zip(self.imports, names, strict=True):
            if not self.page.is_gone(node):
                keep = {start for start, name in imported.items() if name in used}
                self._elide_import(node, keep)
        self._elide_aliases()
        self.page.settle()

    def _elide_aliases(self) -> None:
        """import a = b.c, if it is used only in types"""
        aliases = self._private_aliases()
        if aliases:
            found = uses(
                self.page, self.root, {self.page.name(node.named_children[0]) for node in aliases}
            )
            meant = {use.meaning for use in found}
            for node in aliases:
                if alias_meaning(node) not in meant:
                    self._drop(node)

    def write_aliases(self) -> None:
        """import a = b.c"""
        for node in self.aliases:
            if not self.page.is_blank_or_comment(node.start_byte):
                self.page.replace(node.start_byte, node.start_byte + len("import"), "var")

    def _private_aliases(self) -> list[Node]:
        exported = {node.start_byte for node in self._declarations() if node.type == "import_alias"}
        return [node for node in self.aliases if node.start_byte not in exported]

    def _declarations(self) -> list[Node]:
        return [
            found for node in self.exports if (found := node.child_by_field_name("declaration"))
        ]

    def _elide_import(self, node: Node, keep: set[int]) -> None:
        clause = next(
            (child for child in node.named_children if child.type == "import_clause"), None
        )
        if clause is None:
            return
        if not keep and _imports_something(clause):
            self._drop(node)
            return
        for part in clause.named_children:
            if part.type == "named_imports":
                self._elide_specifiers(part, keep)
        self._elide_parts(clause, keep)

    def _elide_specifiers(self, clause: Node, keep: set[int]) -> None:
        """{ a, type b, c as d }"""
        for specifier in clause.named_children:
            name = specifier_name(specifier)
            if name is not None and name.start_byte not in keep:
                self._blank_with_comma(specifier)

    def _elide_parts(self, clause: Node, keep: set[int]) -> None:
        """a, { b } or a, * as b: drops an unused part and the comma."""
        parts = [part for part in clause.named_children if part.type != "comment"]
        gone = [
            part for part in parts if not any(part.start_byte <= at < part.end_byte for at in keep)
        ]
        if len(parts) < 2 or not gone:
            return
        for node in [*gone, *(child for child in clause.children if child.type == ",")]:
            self.page.blank(node.start_byte, node.end_byte)

    def _elide_exports(self) -> None:
        """export { T }, export { type T } from 'a', export default T"""
        names: ModuleNames | None = None
        for node in self.exports:
            clause = next(
                (child for child in node.named_children if child.type == "export_clause"), None
            )
            value = node.child_by_field_name("value")
            default = value if value is not None and value.type == "identifier" else None
            if clause is None and default is None:
                continue
            names = names or ModuleNames(self.page, self.root.named_children)
            if default is not None and self.page.name(default) in names.only_types:
                self._drop(node)
            elif clause is not None:
                self._elide_export(node, clause, names.only_types)

    def _elide_export(self, node: Node, clause: Node, types: set[str]) -> None:
        specifiers = [part for part in clause.named_children if part.type == "export_specifier"]
        own = node.child_by_field_name("source") is None
        gone = [
            part
            for part in specifiers
            if is_type_only(part) or (own and self._exports_type(part, types))
        ]
        if specifiers and len(gone) == len(specifiers) and not own:
            self._drop(node)
            return
        for part in gone:
            self._blank_with_comma(part)

    def _exports_type(self, specifier: Node, types: set[str]) -> bool:
        name = specifier.child_by_field_name("name")
        return name is not None and self.page.name(name) in types

    def _blank_with_comma(self, node: Node) -> None:
        end = node.end_byte
        following = self.page.after(end)
        if self.page.data[following : following + 1] == b",":
            end = following + 1
        self.page.blank(node.start_byte, end)

    def _drop(self, node: Node) -> None:
        self.page.blank(node.start_byte, node.end_byte)
        self.gaps.append(node.start_byte)

    def _used(self, names: set[str]) -> set[str]:
        """Which of these names the rest of the program uses as values of this module."""
        used, contested = Occurrences(self.page, self.root, self._skipped(), names).classify()
        if contested:
            found = uses(self.page, self.root, contested)
            used -= contested
            used |= {use.name for use in found if use.meaning == FREE}
        return used

    def _skipped(self) -> list[Span]:
        """Statements whose names are not uses: imports, and re-exports from another module."""
        passed_on = [
            node for node in self.exports if node.child_by_field_name("source") is not None
        ]
        return [(node.start_byte, node.end_byte) for node in [*self.imports, *passed_on]]


class Occurrences:
    """Finds a few names in the text that remains, and consults the tree only where they occur."""

    def __init__(self, page: Page, root: Node, skipped: list[Span], names: set[str]) -> None:
        self.page, self.root, self.names = page, root, names
        self.outside = Page(page.data, [*skipped])
        self.lookups = 0

    def classify(self) -> tuple[set[str], set[str]]:
        """Names that are certainly used, and names that are declared again, which need scopes."""
        used: set[str] = set()
        contested: set[str] = set()
        if b"\\u" in self.page.data or len(self.names) > FEW_NAMES:
            return set(), set(self.names)
        for name in self.names:
            verdicts = self._verdicts(name.encode("utf-8", "surrogatepass"))
            if "binding" in verdicts:
                contested.add(name)
            elif verdicts:
                used.add(name)
        return used, contested

    def _verdicts(self, name: bytes) -> set[str]:
        verdicts = set()
        data, size = self.page.data, len(name)
        for at in written(data, name, 0, len(data)):
            # A name before a dot is not being declared.
            is_known = "use" in verdicts and data[at + size : at + size + 1] == b"."
            if not is_known and self._is_word(at, at + size):
                verdicts.add(self._verdict(at, at + size))
                if "binding" in verdicts:
                    break
        return verdicts - {""}

    def _is_word(self, start: int, end: int) -> bool:
        data = self.page.data
        if (start and data[start - 1] in _WORD_BYTE) or (
            end < len(data) and data[end] in _WORD_BYTE
        ):
            return False
        return not (self.page.is_blank_or_comment(start) or self.outside.is_blank_or_comment(start))

    def _verdict(self, start: int, end: int) -> str:
        self.lookups += 1
        if self.lookups > _MOST_LOOKUPS:
            return "binding"
        node = self.root.descendant_for_byte_range(start, end)
        if node is None or node.end_byte - node.start_byte != end - start:
            return ""
        if node.type in _CONTESTED_KINDS:
            return "binding"
        if node.type not in _VALUE_KINDS:
            return ""
        if self.page.data[end : end + 1] == b".":
            return "use"
        parent = node.parent
        return "binding" if parent is not None and parent.type in _BINDING_PARENTS else "use"


def _imports_something(clause: Node) -> bool:
    return any(
        part.type != "comment" and (part.type != "named_imports" or part.named_child_count)
        for part in clause.named_children
    )


def _is_export_of_types(node: Node) -> bool:
    """export type { a }, export as namespace b"""
    return any(child.type in ("type", "as") and not child.is_named for child in node.children[:2])
