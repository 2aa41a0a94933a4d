"""The grammar, the parser, and the walk that finds what the eraser has a visitor for.

A worker may open no file, so all of this is made once in the zygote (`grammar()` remembers it)
and inherited by every fork. The package `tree_sitter_typescript` is never imported itself: its
`__init__` pulls in `importlib.resources`, which takes longer than everything else here together.

Nor are tree-sitter's queries used. A query takes milliseconds to compile, and on a node with very
many children its cost is quadratic, as is that of asking nodes for their parents in a deep tree:
a hostile source could hang the worker. A walk with a cursor is linear and no slower.
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
"""The nodes that the visitors visit, by kind, each in the order of the source."""

_ENDS_LINE = re.compile(rb"[ \t]*(?:[\r\n}]|//|/\*|$)")
# Below these nothing is of interest: all of it is a type.
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


# Most named nodes are one of these, and most nodes have no name.
_LEAVES = frozenset(
    "identifier property_identifier shorthand_property_identifier number string this".split()
)


class Grammar(NamedTuple):
    """What parsing needs. `with_markup` also reads JSX, to explain what the other cannot read."""

    parser: Parser
    with_markup: Parser
    kinds: dict[int, str]
    """The kinds that visitors ask for, by number; empty for those that have nothing below them."""

    def parse(self, data: bytes) -> Node:
        return self.parser.parse(data).root_node

    def parse_markup(self, data: bytes) -> Node:
        return self.with_markup.parse(data).root_node

    def find(self, root: Node) -> Found:
        """Every construct the eraser has a visitor for."""
        found: Found = {}
        cursor = root.walk()
        # The loop runs once for each node of the tree: what it calls is looked up once.
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
    """The grammar, made on first use and kept."""
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
    """The compiled half of `tree_sitter_typescript`, without its package."""
    package = PathFinder.find_spec("tree_sitter_typescript")
    places = package.submodule_search_locations if package else None
    spec = PathFinder.find_spec("tree_sitter_typescript._binding", list(places or ()))
    if spec is None or spec.loader is None:
        raise ImportError("tree-sitter-typescript is not installed")
    binding = module_from_spec(spec)
    spec.loader.exec_module(binding)
    return binding


def parents(root: Node, kinds: frozenset[str], below: Iterable[Node]) -> dict[int, Node]:
    """The parents of all nodes of some kinds that are, or contain, one of those below; by child's id.

    In one walk, of nothing else.
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
    """Whether one of these places, which are in order, lies in a node."""
    following = bisect_left(places, node.start_byte)
    return following < len(places) and places[following] < node.end_byte


def is_whole(node: Node, data: bytes) -> bool:
    """Whether nothing is wrong with a node, or only that a line break stands for its semicolon."""
    while node.has_error:
        children = node.children
        if not children or any(child.has_error for child in children[:-1]):
            return False
        node = children[-1]
        if node.is_missing:
            return node.type == ";" and _ENDS_LINE.match(data, node.start_byte) is not None
    return True
