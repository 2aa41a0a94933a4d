"""Rewrites enums and namespaces, which exist at run time, on the lines where they are.

A block that declares any is visited statement by statement, because parts with the same name are one object: only the
first part declares the variable, and none does if a function or class already has the name.
"""

from __future__ import annotations

import re

from tree_sitter import Node

from .blank import Page
from .enums import Enums
from .grammar import Found, parents
from .module_names import inner, is_instantiated
from .namespaces import Namespaces, Path, Segment
from .scopes import FREE, LOCAL, Members, uses

_NAMESPACES = frozenset(("internal_module", "module"))
_DECLARED_BY_ITSELF = frozenset(
    "function_declaration generator_function_declaration class_declaration abstract_class_declaration"
    " function_signature".split()
)
_AROUND = frozenset(
    "enum_declaration internal_module module export_statement expression_statement".split()
)
_SUFFIX = re.compile(rb"_(\d{1,9})(?![\w$])")


class Site:
    """A block with declarations, and the namespace whose body it is, if any."""

    def __init__(self, block: Node, around: Segment | None) -> None:
        self.block, self.around = block, around
        self.keyword = "var" if block.type == "program" else "let"
        self.declared: set[str] = set()


class Rewriter:
    """Plans once all types are blanked; writes at the very end."""

    def __init__(self, page: Page, root: Node) -> None:
        self.page, self.root = page, root
        self.enums, self.namespaces = Enums(page, root), Namespaces(page)
        self.suffix = ""
        self.gaps: list[int] = []
        self.tasks: list[Site] = []
        self.enum_parts: dict[Path, set[str]] = {}
        self.enum_bodies: list[tuple[int, str, Path]] = []
        self.walks: list[Node] = []
        self.instantiated: dict[int, bool] = {}
        self.planned: list[tuple[Site, Node, Node, list[Segment], bool]] = []

    def plan(self, found: Found, gaps: list[int]) -> None:
        """Find what exists at run time, and blank the namespaces that do not."""
        self.gaps = gaps
        blocks = self._blocks(found)
        if not blocks:
            return
        taken = max((int(number) for number in _SUFFIX.findall(self.page.data)), default=0)
        self.suffix = f"_{taken + 1}"
        done: set[int] = set()
        for block in sorted(blocks, key=lambda block: block.start_byte):
            self.tasks.append(Site(block, None))
            while self.tasks:
                site = self.tasks.pop()
                if site.block.start_byte not in done:
                    done.add(site.block.start_byte)
                    self._visit(site)
        self.page.settle()

    def _blocks(self, found: Found) -> list[Node]:
        """The blocks with enums or namespaces that have not been erased."""
        objects = [
            node
            for kind in ("enum_declaration", "internal_module", "module")
            for node in found.get(kind, ())
            if not self.page.is_gone(node)
        ]
        around = parents(self.root, _AROUND, objects) if objects else {}
        blocks: dict[int, Node] = {}
        for node in objects:
            block = around.get(node.id)
            while block is not None and block.type in ("export_statement", "expression_statement"):
                block = around.get(block.id)
            if block is not None:
                blocks[block.id] = block
        return list(blocks.values())

    def _visit(self, site: Site) -> None:
        statements = site.block.named_children
        for statement in statements:
            part = inner(statement)
            if part.type in _DECLARED_BY_ITSELF:
                name = part.child_by_field_name("name")
                site.declared.add(self.page.name(name) if name else "")
        for statement in statements:
            part = inner(statement)
            if self.page.is_gone(statement):
                continue
            if part.type == "enum_declaration" and not part.has_error:
                self._enum(site, statement, part)
            elif part.type in _NAMESPACES and _is_closed(part):
                self._namespace(site, statement, part)

    def _enum(self, site: Site, statement: Node, enum: Node) -> None:
        """export const enum E { A }"""
        name, body = enum.child_by_field_name("name"), enum.child_by_field_name("body")
        if name is None or body is None:
            return
        segment = self._segment(site, statement, self.page.text(name), body)
        self.enum_parts.setdefault(segment.path, set()).update(self.enums.members(enum))
        self.enum_bodies.append((body.start_byte, segment.holder, segment.path))
        self.walks.append(body)
        self._declare(site, statement, enum, [segment])

    def _namespace(self, site: Site, statement: Node, node: Node) -> None:
        """namespace A.B { export const c = 1 }"""
        body, names = node.child_by_field_name("body"), self._names(node)
        if body is None or not names:
            return
        if not is_instantiated(node, self.instantiated):
            if node.has_error:
                return  # left as it is, so that the engine refuses it
            self.page.blank(statement.start_byte, statement.end_byte)
            self.gaps.append(statement.start_byte)
            return
        segments = [self._segment(site, statement, names[0], body)]
        for name in names[1:]:
            segments.append(Segment(name, self._holder(name, body), (*segments[-1].path, name)))
        self.namespaces.enter(body, segments)
        self.walks.append(node)
        self._declare(site, statement, node, segments)
        self.tasks.append(Site(body, segments[-1]))

    def _names(self, node: Node) -> list[str]:
        name = node.child_by_field_name("name")
        names = []
        while name is not None and name.type in ("nested_identifier", "member_expression"):
            last = name.child_by_field_name("property")
            names.append(self.page.text(last) if last else "")
            name = name.child_by_field_name("object")
        if name is None or name.type != "identifier":
            return []
        return [self.page.text(name), *reversed(names)]

    def _segment(self, site: Site, statement: Node, name: str, body: Node) -> Segment:
        exported = site.around is not None and statement.type == "export_statement"
        path: Path = site.around.path if exported and site.around else (site.block.start_byte,)
        return Segment(name, self._holder(name, body), (*path, name))

    def _holder(self, name: str, body: Node) -> str:
        """The parameter for the object: the namespace's name, with a suffix if the body contains it."""
        used = self.page.data.find(name.encode(), body.start_byte, body.end_byte) >= 0
        return name + self.suffix if used else name

    def _declare(self, site: Site, statement: Node, node: Node, segments: list[Segment]) -> None:
        first = segments[0].name not in site.declared
        site.declared.add(segments[0].name)
        self.planned.append((site, statement, node, segments, first))

    def write(self) -> None:
        """Called once the page is settled and unused imports are dropped."""
        for site, statement, node, segments, first in self.planned:
            body = node.child_by_field_name("body")
            name = node.child_by_field_name("name")
            if body is None or name is None:
                continue
            self._head(site, statement, node, name, segments, first)
            self._open(body, name, segments, site.keyword)
            if node.type == "enum_declaration":
                self.enums.write(node, site.block, segments[0].holder)
            else:
                self.namespaces.write(body, segments[-1].holder)
            self._close(site, statement, body, segments)
        self.page.settle()
        self._qualify()

    def _head(
        self,
        site: Site,
        statement: Node,
        node: Node,
        name: Node,
        segments: list[Segment],
        first: bool,
    ) -> None:
        """`enum E` becomes `var E`, or nothing if E is already declared."""
        if not first:
            self.page.blank(statement.start_byte, body_start(node))
            return
        if site.around is not None:
            self.page.blank(statement.start_byte, node.start_byte)
        self.page.blank(node.start_byte, name.start_byte)
        self.page.replace(node.start_byte, name.start_byte, site.keyword)
        self.page.blank(name.start_byte + len(segments[0].name.encode()), name.end_byte)

    def _open(self, body: Node, name: Node, segments: list[Segment], keyword: str) -> None:
        at = body.start_byte
        text = f";(function({segments[0].holder})"
        for segment in segments[1:]:
            text += f"{{var {segment.name};(function({segment.holder})"
        self.page.insert(at, text)

    def _close(self, site: Site, statement: Node, body: Node, segments: list[Segment]) -> None:
        outer = site.around if statement.type == "export_statement" else None
        holders = [outer.holder if outer else None, *(segment.holder for segment in segments)]
        text = ""
        for segment, holder in reversed(list(zip(segments, holders, strict=False))):
            property_of = f"{holder}.{segment.name}"
            name = segment.name
            text += (
                f")({name}={property_of}||({property_of}={{}}));"
                if holder
                else f")({name}||({name}={{}}));"
            )
            text += "}" if segment is not segments[0] else ""
        self.page.insert(self.page.end(body), text, order=-1)

    def _qualify(self) -> None:
        """Qualify every name that refers to a property with its object."""
        members: dict[int, list[Members]] = self.namespaces.members()
        for start, holder, path in self.enum_bodies:
            members[start] = [Members(holder, frozenset(), self.enum_parts[path])]
        names = {
            name
            for parts in members.values()
            for part in parts
            for name in (*part.own, *part.others)
        }
        end = -1
        for walk in sorted(self.walks, key=lambda node: node.start_byte):
            if walk.start_byte < end:
                continue
            end = walk.end_byte
            for use in uses(self.page, walk, names, members):
                if use.meaning in (FREE, LOCAL) or use.meaning.startswith("<"):
                    continue
                written = f"{use.meaning}.{self.page.text(use.node)}"
                if use.shorthand:
                    self.page.insert(use.node.end_byte, ":" + written, order=-2)
                else:
                    self.page.insert(use.node.start_byte, use.meaning + ".", order=3)


def body_start(node: Node) -> int:
    body = node.child_by_field_name("body")
    return body.start_byte if body else node.end_byte


def _is_closed(namespace: Node) -> bool:
    """Whether name and braces are complete; the engine reports errors between the braces."""
    body = namespace.child_by_field_name("body")
    signs = [child for child in body.children if child.type == "}"] if body else []
    head = [child for child in namespace.children if child != body]
    return bool(signs) and not signs[-1].is_missing and not any(child.has_error for child in head)
