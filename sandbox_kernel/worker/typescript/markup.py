"""Finds JSX, to refuse it with a clear message instead of the engine's syntax error."""

from __future__ import annotations

from tree_sitter import Node

_MARKUP = frozenset(("jsx_element", "jsx_self_closing_element"))


def first_markup(root: Node) -> Node | None:
    """The first JSX element in source order."""
    cursor = root.walk()
    while True:
        node = cursor.node
        if node is not None and node.type in _MARKUP:
            return node
        if cursor.goto_first_child() or cursor.goto_next_sibling():
            continue
        while cursor.goto_parent():
            if cursor.goto_next_sibling():
                break
        else:
            return None
