"""The shadow of a source: what is parsed in its place, with every position the same.

Some changes can only be made once there is a tree to show where: they make one shadow of another.
"""

from __future__ import annotations

from typing import NamedTuple

from tree_sitter import Node

from .blank import Span


class Shadow(NamedTuple):
    """What is parsed instead of a source that could not be read."""

    data: bytes
    forced: list[Span]
    """To be blanked whatever the tree says."""
    gaps: list[int]
    """Where that leaves a gap between two statements or members."""
    clauses: list[Span]
    """Braces of imports and exports: whatever the tree says, no assertion is in them."""


def with_bodies(shadow: Shadow, headless: list[Node]) -> Shadow:
    """`namespace A` and its body on the next line: the grammar wants them on one."""
    data = bytearray(shadow.data)
    for node in headless:
        at = node.end_byte
        while at < len(data) and data[at] in b" \t\r\n":
            at += 1
        if data[at : at + 1] == b"{":
            data[node.end_byte : at] = b" " * (at - node.end_byte)
    return shadow._replace(data=bytes(data))


def with_arrows(shadow: Shadow, enclosing: list[Node]) -> Shadow:
    """`(a ? (b): T => c : d)`: the grammar takes `b` for the first choice and `d` for a type."""
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
