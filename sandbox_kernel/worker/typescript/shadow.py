"""The shadow of a source: a text that is parsed instead of it, with the same positions.

Some changes need a tree to find their places; they make a new shadow from another.
"""

from __future__ import annotations

from typing import NamedTuple

from tree_sitter import Node

from .blank import Span


class Shadow(NamedTuple):
    """What is parsed instead of a source that the grammar cannot parse."""

    data: bytes
    forced: list[Span]
    """To be blanked regardless of the tree."""
    gaps: list[int]
    """Where blanking them leaves a gap between two statements or members."""
    clauses: list[Span]
    """Braces of imports and exports, which contain no assertions, even if the tree has some."""


def with_bodies(shadow: Shadow, without_body: list[Node]) -> Shadow:
    """`namespace A` with its body on the next line: the grammar requires one line."""
    data = bytearray(shadow.data)
    for node in without_body:
        at = node.end_byte
        while at < len(data) and data[at] in b" \t\r\n":
            at += 1
        if data[at : at + 1] == b"{":
            data[node.end_byte : at] = b" " * (at - node.end_byte)
    return shadow._replace(data=bytes(data))


def with_arrows(shadow: Shadow, enclosing: list[Node]) -> Shadow:
    """`(a ? (b): T => c : d)`: the grammar parses `b` as the first choice and `d` as a type."""
    data, forced = bytearray(shadow.data), list(shadow.forced)
    for node in enclosing:
        choice = node.named_child(0)
        arrow = choice.child_by_field_name("alternative") if choice else None
        colon = arrow.prev_sibling if arrow and arrow.type == "arrow_function" else None
        if arrow is None or colon is None or colon.type != ":":
            continue
        sign = next((child for child in arrow.children if child.type == "=>"), None)
        if sign is not None:
            span = colon.start_byte, sign.start_byte
            data[span[0] : span[1]] = b" " * (span[1] - span[0])
            forced.append(span)
    return shadow._replace(data=bytes(data), forced=forced)
