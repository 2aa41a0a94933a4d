"""The grammar, the parser, and the walk that finds the nodes that visitors handle.

A worker cannot open files, so all of this is made once in the zygote (`grammar()` caches it) and
inherited by every fork. The package `tree_sitter_typescript` is never imported itself: its
`__init__` imports `importlib.resources`, which takes longer than everything else here together.

We do not use tree-sitter's queries. A query takes milliseconds to compile, and its cost is quadratic
in the number of a node's children; asking nodes for their parents is quadratic in a deep tree. A
hostile source could hang the worker. A walk with a cursor is linear and no slower.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterable
from functools import cache
from importlib.machinery import PathFinder
from importlib.util import module_from_spec
from typing import Any, NamedTuple

from tree_sitter import Language, Node, Parser

Found = dict[str, list[Node]]
"""The nodes that visitors handle, by kind, in source order."""

_ENDS_LINE = re.compile(rb"[ \t]*(?:[\r\n}]|//|/\*|$)")
# The walk does not enter these: everything in them is a type.
_TYPES = frozenset(
    "type_annotation type_arguments type_parameters implements_clause asserts_annotation"
    " type_predicate_annotation interface_declaration type_alias_declaration ambient_declaration"
    " function_signature".split()
)
_OTHERS = frozenset(
    "as_expression satisfies_expression instantiation_expression type_assertion"
    " non_null_expression optional_parameter formal_parameters arrow_function method_definition"
    " new_expression class_body abstract_class_declaration enum_declaration internal_module module"
    " import_statement import_alias export_statement import_specifier export_specifier"
    " parenthesized_expression binary_expression decorator comment html_comment".split()
)


# The walk does not enter these either: they are the most common named nodes, and have no children.
_LEAVES = frozenset(
    "identifier property_identifier shorthand_property_identifier number string this".split()
)


class Grammar(NamedTuple):
    """The parsers. `with_markup` also parses JSX, to explain an error in plain TypeScript."""

    parser: Parser
    with_markup: Parser
    kinds: dict[int, str]
    """By number, the kinds that visitors handle; "" for kinds that the walk need not enter."""

    def parse(self, data: bytes) -> Node:
        return self.parser.parse(data).root_node

    def parse_markup(self, data: bytes) -> Node:
        return self.with_markup.parse(data).root_node

    def find(self, root: Node) -> Found:
        """Every node that a visitor handles."""
        found: Found = {}
        cursor = root.walk()
        # The loop runs once per node, so its methods are looked up only once.
        down, along, up = cursor.goto_first_child, cursor.goto_next_sibling, cursor.goto_parent
        kind_of = self.kinds.get
        while True:
            node = cursor.node
            assert node is not None
            kind = kind_of(node.kind_id)
            if kind is None:
                if down():
                    continue
            elif kind:
                found.setdefault(kind, []).append(node)
                if kind not in _TYPES and down():
                    continue
            while not along():
                if not up():
                    return found


@cache
def grammar() -> Grammar:
    """The grammar, made on first use and cached."""
    binding = _binding()
    typescript = Language(binding.language_typescript())
    markup = Language(binding.language_tsx())
    kinds: dict[int, str] = {}
    for number in range(typescript.node_kind_count):
        name = typescript.node_kind_for_id(number)
        if name in _LEAVES or not typescript.node_kind_is_named(number):
            kinds[number] = ""
        elif name in _TYPES or name in _OTHERS:
            kinds[number] = name
    return Grammar(Parser(typescript), Parser(markup), kinds)


def _binding() -> Any:
    """The compiled module of `tree_sitter_typescript`, loaded without its package."""
    package = PathFinder.find_spec("tree_sitter_typescript")
    places = package.submodule_search_locations if package else None
    spec = PathFinder.find_spec("tree_sitter_typescript._binding", list(places or ()))
    if spec is None or spec.loader is None:
        raise ImportError(
            "tree-sitter-typescript is not installed; run: pip install tree-sitter-typescript"
        )
    binding = module_from_spec(spec)
    spec.loader.exec_module(binding)
    return binding


def parents(root: Node, kinds: frozenset[str], below: Iterable[Node]) -> dict[int, Node]:
    """By node id, the parents of nodes of these kinds that are, or contain, one of `below`.

    One walk finds them all; it enters only nodes that contain one of `below`.
    """
    places = sorted(node.start_byte for node in below)
    found: dict[int, Node] = {}
    tasks = [root]
    while tasks:
        node = tasks.pop()
        for child in node.named_children:
            if holds_any(child, places):
                tasks.append(child)
                if child.type in kinds:
                    found[child.id] = node
    return found


def holds_any(node: Node, places: list[int]) -> bool:
    """Whether one of these places, which are sorted, is in a node."""
    following = bisect_left(places, node.start_byte)
    return following < len(places) and places[following] < node.end_byte


def is_whole(node: Node, data: bytes) -> bool:
    """Whether a node has no error, apart from a semicolon that a line break replaces."""
    while node.has_error:
        children = node.children
        if not children or any(child.has_error for child in children[:-1]):
            return False
        node = children[-1]
        if node.is_missing:
            return node.type == ";" and _ENDS_LINE.match(data, node.start_byte) is not None
    return True
