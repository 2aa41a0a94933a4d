"""Turns a source into what the engine compiles: parse, erase, avoid hazards, rewrite."""

from __future__ import annotations

from bisect import bisect_right
from typing import NamedTuple

from tree_sitter import Node

from . import hazards, refuse
from .blank import Page, Prepared, Span
from .classes import Classes
from .erase import Eraser, annotated_groups
from .grammar import Found, grammar, is_whole
from .imports import Imports
from .last import show_last
from .markup import first_markup
from .module_names import is_type_only
from .repair import repaired
from .rewrite import Rewriter
from .shadow import Shadow, with_arrows, with_bodies
from .typereader import calls_with_types

_CONTAINERS = frozenset(
    "class_body internal_module module formal_parameters"
    " arrow_function method_definition decorator abstract_class_declaration".split()
)


def prepare(
    source: str, *, language: str = "typescript", last_expression: bool = False
) -> Prepared:
    """The text that the engine compiles for this source.

    JavaScript stays unchanged, unless its last expression is to be exported.
    """
    if language == "javascript" and not last_expression:
        return Prepared(source)
    data = source.encode("utf-8", "surrogatepass")
    reading = _read(data)
    comments = reading.found.get("comment", ())
    page = Page(data, [(node.start_byte, node.end_byte) for node in comments])
    if language != "javascript":
        _Preparation(page, reading).run()
    shows_last = last_expression and show_last(page, reading.root)
    if not page.touched:
        return Prepared(source)
    return Prepared(page.write().decode("utf-8", "surrogatepass"), shows_last, page.added())


def warm() -> None:
    """Load the grammar and all code that `prepare` uses: a locked-down worker cannot load any."""
    prepare(
        "enum A { B } namespace C { export const d: A = 1 } class E { constructor(public f) {} }"
    )
    prepare("interface A<in B> {} a as", last_expression=True)


class _Reading(NamedTuple):
    """The tree of a source or of its shadow, and spans to blank regardless of the tree."""

    root: Node
    found: Found
    forced: list[Span]
    gaps: list[int]


def _read(data: bytes) -> _Reading:
    readable = _readable(data)
    root = grammar().parse(readable)
    found = grammar().find(root)
    shadow = Shadow(readable, [], [], [])
    if root.has_error or _is_misread(readable, found):
        if root.has_error:
            _refuse_markup(data, readable)
        shadow = repaired(readable)
        root = grammar().parse(shadow.data)
        found = grammar().find(root)
    if without_body := _without_body(found):
        shadow = with_bodies(shadow, without_body)
        root = grammar().parse(shadow.data)
        found = grammar().find(root)
    if annotated := annotated_groups(found):
        shadow = with_arrows(shadow, annotated)
        root = grammar().parse(shadow.data)
        found = grammar().find(root)
    if root.has_error:
        found = _certain(found, data, shadow.clauses)
    return _Reading(root, found, shadow.forced, shadow.gaps)


def _is_misread(data: bytes, found: Found) -> bool:
    """Whether type arguments were taken for comparisons: `f<A<() => B>>(c)`."""
    for node in found.get("binary_expression", ()):
        sign = node.child_by_field_name("operator")
        if sign is not None and sign.type == "<" and calls_with_types(data, sign.start_byte):
            return True
    return False


def _without_body(found: Found) -> list[Node]:
    modules = found.get("internal_module", ())
    return [node for node in modules if not node.child_by_field_name("body")]


def _refuse_markup(data: bytes, readable: bytes) -> None:
    """Refuse JSX, which the grammar of plain TypeScript only reports as an error."""
    if b"</" not in readable and b"/>" not in readable:
        return
    root = grammar().parse_markup(readable)
    element = None if root.has_error else first_markup(root)
    if element is not None:
        raise refuse.refusal(data, element, refuse.MARKUP)


def _readable(data: bytes) -> bytes:
    """The source with NULs and lone surrogates replaced, which would stop the parser."""
    if b"\0" in data:
        data = data.replace(b"\0", b"\x01")
    if b"\xed" in data:
        text = data.decode("utf-8", "surrogatepass")
        data = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace").encode()
    return data


class _Preparation:
    """The steps for one source, in order."""

    def __init__(self, page: Page, reading: _Reading) -> None:
        self.page, self.found, self.forced, self.gaps = (
            page,
            reading.found,
            reading.forced,
            reading.gaps,
        )
        self.eraser = Eraser(page, reading.root, self.found, self.gaps)
        self.classes = Classes(page, self.gaps)
        self.rewriter = Rewriter(page, reading.root)
        self.imports = Imports(page, reading.root, self.found, self.gaps)

    def run(self) -> None:
        self._erase()
        self._elide()
        if self.page.touched or self.rewriter.planned or self.imports.aliases:
            self._avoid_hazards()
            self._rewrite()

    def _erase(self) -> None:
        for start, end in self.forced:
            self.page.blank(start, end)
        self.eraser.run()
        for body in self.found.get("class_body", ()):
            self.classes.visit(body)
        self.page.settle()
        for node in self.found.get("decorator", ()):
            if not self.page.is_gone(node):
                raise refuse.refusal(self.page.data, node, refuse.DECORATOR)

    def _elide(self) -> None:
        """Drop unused imports, but only if the source is TypeScript: JavaScript stays unchanged."""
        self.rewriter.plan(self.found, self.gaps)
        self.imports.erase_type_only()
        self.page.settle()
        if self.page.touched or self.rewriter.planned or self._has_inline_types():
            self.imports.elide()
            self.page.settle()

    def _has_inline_types(self) -> bool:
        specifiers = [
            *self.found.get("import_specifier", ()),
            *self.found.get("export_specifier", ()),
        ]
        return bool(self.found.get("import_alias")) or any(map(is_type_only, specifiers))

    def _avoid_hazards(self) -> None:
        hazards.close_gaps(self.page, self.gaps)
        self.classes.avoid_hazards()
        for node in self.found.get("type_assertion", ()):
            if not self.page.is_gone(node):
                hazards.wrap_angle(self.page, node)
        for node in self.found.get("arrow_function", ()):
            if not self.page.is_gone(node):
                hazards.keep_arrow_on_its_line(self.page, node)

    def _rewrite(self) -> None:
        self.classes.rewrite()
        self.rewriter.write()
        self.imports.write_aliases()


def _certain(found: Found, data: bytes, clauses: list[Span]) -> Found:
    """Of a source with errors, only the nodes without any; visitors of containers check themselves.

    Assertions inside the braces of an import or export are misread, and left out too.
    """
    certain = {
        kind: nodes if kind in _CONTAINERS else [node for node in nodes if is_whole(node, data)]
        for kind, nodes in found.items()
    }
    starts = [start for start, _ in clauses]
    for kind in ("as_expression", "satisfies_expression"):
        nodes = certain.get(kind, [])
        certain[kind] = [node for node in nodes if not _is_within(node, starts, clauses)]
    return certain


def _is_within(node: Node, starts: list[int], spans: list[Span]) -> bool:
    index = bisect_right(starts, node.start_byte) - 1
    return index >= 0 and node.end_byte <= spans[index][1]
