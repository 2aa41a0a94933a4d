"""Evaluates constant expressions in enums, as the TypeScript compiler does.

The program itself computes the values at run time. We only need the number after which an automatic member continues,
and whether a member is a string, because strings get no reverse mapping.
"""

from __future__ import annotations

import math
from collections.abc import Callable

from tree_sitter import Node

from .blank import Page

Constant = float | str | None
"""A number, a string, or None if the expression is not constant."""

_DEEPEST = 100
_LOGICAL = {"|": int.__or__, "&": int.__and__, "^": int.__xor__}


class Constants:
    """Evaluates expressions; `lookup` returns the value of a name or `enum.member`, or None."""

    def __init__(self, page: Page, lookup: Callable[[Node, int], Constant]) -> None:
        self.page, self.lookup = page, lookup

    def value(self, node: Node | None, depth: int = 0) -> Constant:
        """The constant value of this expression, or None."""
        if node is None or depth > _DEEPEST:
            return None
        visit = _VISITS.get(node.type)
        return visit(self, node, depth + 1) if visit else self.lookup(node, depth + 1)

    def _number(self, node: Node, depth: int) -> Constant:
        return number(self.page.text(node))

    def _string(self, node: Node, depth: int) -> Constant:
        return self.page.text(node)[1:-1]

    def _template(self, node: Node, depth: int) -> Constant:
        parts = []
        for child in node.named_children:
            if child.type != "template_substitution":
                parts.append(self.page.text(child))
                continue
            part = self.value(child.named_child(0), depth)
            if part is None:
                return None
            parts.append(part if isinstance(part, str) else written(part))
        return "".join(parts)

    def _inner(self, node: Node, depth: int) -> Constant:
        return self.value(node.named_child(0), depth)

    def _unary(self, node: Node, depth: int) -> Constant:
        operator, operand = node.child(0), self.value(node.child_by_field_name("argument"), depth)
        if operator is None or not isinstance(operand, (int, float)):
            return None
        if operator.type == "~":
            return float(~_int32(operand))
        return {"-": -operand, "+": operand}.get(operator.type)

    def _binary(self, node: Node, depth: int) -> Constant:
        left = self.value(node.child_by_field_name("left"), depth)
        right = self.value(node.child_by_field_name("right"), depth)
        operator = node.child_by_field_name("operator")
        if operator is None or left is None or right is None:
            return None
        if isinstance(left, str) or isinstance(right, str):
            both = [part if isinstance(part, str) else written(part) for part in (left, right)]
            return "".join(both) if operator.type == "+" else None
        return _arithmetic(operator.type, left, right)


_VISITS: dict[str, Callable[[Constants, Node, int], Constant]] = {
    "number": Constants._number,
    "string": Constants._string,
    "template_string": Constants._template,
    "parenthesized_expression": Constants._inner,
    "unary_expression": Constants._unary,
    "binary_expression": Constants._binary,
}


def _arithmetic(operator: str, left: float, right: float) -> Constant:
    if operator in _LOGICAL:
        return float(_signed(_LOGICAL[operator](_int32(left), _int32(right))))
    try:
        return _calculate(operator, left, right)
    except (OverflowError, ValueError):
        return math.nan


def _calculate(operator: str, left: float, right: float) -> Constant:
    if operator == "/" and right == 0:
        return (
            math.nan
            if left == 0 or math.isnan(left)
            else math.copysign(math.inf, left) * math.copysign(1, right)
        )
    shift = _int32(right) & 31
    return {
        "+": lambda: left + right,
        "-": lambda: left - right,
        "*": lambda: left * right,
        "/": lambda: left / right,
        "%": lambda: math.fmod(left, right),
        "**": lambda: math.pow(left, right),
        "<<": lambda: float(_signed(_int32(left) << shift)),
        ">>": lambda: float(_int32(left) >> shift),
        ">>>": lambda: float((_int32(left) & 0xFFFFFFFF) >> shift),
    }.get(operator, lambda: None)()


def _int32(value: float) -> int:
    return _signed(int(value)) if math.isfinite(value) else 0


def _signed(value: int) -> int:
    value &= 0xFFFFFFFF
    return value - 0x100000000 if value & 0x80000000 else value


def number(text: str) -> float | None:
    """The value of a numeric literal; None for a BigInt, which an enum cannot have."""
    text = text.replace("_", "").lower()
    try:
        if text[:2] in ("0x", "0o", "0b"):
            return float(int(text, 0))
        return float(text)
    except (ValueError, OverflowError):
        return None


def written(value: float) -> str:
    """A number as JavaScript source."""
    if math.isnan(value):
        return "NaN"
    if math.isinf(value):
        return "Infinity" if value > 0 else "-Infinity"
    return str(int(value)) if value == int(value) and abs(value) < 1e21 else repr(value)
