"""Keeps operands grouped as the assertion grouped them: `a + b as T * c` multiplies the sum.

An assertion has the precedence of a comparison, so an operator after it may bind more tightly than
one before it. Without the type, that operator would take only the nearest operand. The tree does not
help, because the grammar gives assertions another precedence. So a chain of operators is flattened,
and grouped again as TypeScript does.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from tree_sitter import Node

from .blank import Page
from .grammar import parents

_LEVELS = (
    ("??",), ("||",), ("&&",), ("|",), ("^",), ("&",), ("==", "!=", "===", "!=="),
    ("<", ">", "<=", ">=", "in", "instanceof"), ("<<", ">>", ">>>"), ("+", "-"), ("*", "/", "%"), ("**",),
)  # fmt: skip
_ASSERTING = ("as", "satisfies")
_LEVEL = {sign: level for level, signs in enumerate(_LEVELS, 3) for sign in signs}
_LEVEL.update(dict.fromkeys(_ASSERTING, _LEVEL["<"]))
_POWER = _LEVEL["**"]
_ATOM = 99
_ASSERTIONS = frozenset(("as_expression", "satisfies_expression"))
_PREFIXED = frozenset("unary_expression await_expression type_assertion".split())
_POSTFIXED = frozenset(
    "non_null_expression member_expression subscript_expression call_expression".split()
)
_CHAINED = _ASSERTIONS | _PREFIXED | _POSTFIXED | {"binary_expression"}


class _Operand(NamedTuple):
    """One operand so far: where it starts, and the precedence of its weakest operator."""

    start: int
    weakest: int


class Grouping:
    """Regroups each chain of operators that contains an assertion, once."""

    def __init__(self, page: Page, root: Node, assertions: Iterable[Node]) -> None:
        self.page = page
        self.around = parents(root, _CHAINED, assertions)
        self.done: set[int] = set()

    def keep(self, assertion: Node) -> None:
        """Parenthesize what needs it in the chain around this assertion."""
        if assertion.id in self.done:
            return
        top = assertion
        while (outer := self.around.get(top.id)) is not None and _continues(outer, top):
            top = outer
        self._regroup(_flat(top, self.done))

    def _regroup(self, parts: list[Node]) -> None:
        """Parse by operator precedence; an assertion is an operator without a right side."""
        waiting: list[tuple[_Operand, int]] = []
        operand, asserted, prefix = _Operand(0, _ATOM), -1, -1
        for part in parts:
            if part.type in _PREFIXED:
                prefix = part.start_byte if prefix < 0 else prefix
                continue
            level = None if part.is_named else _LEVEL.get(part.type)
            if level is None:
                operand, asserted = _Operand(part.start_byte, _ATOM), -1
                if prefix >= 0:
                    operand, prefix = _Operand(prefix, _POWER - 1), -1
                continue
            if asserted >= 0 and (operand.weakest < level or operand.weakest == level == _POWER):
                self.page.open_group(operand.start)
                self.page.put(asserted, ")")
                operand = operand._replace(weakest=_ATOM)
            operand = _reduce(waiting, operand, level)
            if part.type in _ASSERTING:
                asserted = part.start_byte
            else:
                waiting.append((operand, level))


def _reduce(waiting: list[tuple[_Operand, int]], operand: _Operand, level: int) -> _Operand:
    """Finish the operators that bind at least as tightly as the next one."""
    while waiting and (waiting[-1][1] > level or waiting[-1][1] == level != _POWER):
        left, finished = waiting.pop()
        operand = _Operand(left.start, finished)
    return operand


def _continues(outer: Node, node: Node) -> bool:
    """Whether the outer node continues the chain; it does not if `node` is an argument or index."""
    if outer.type in _POSTFIXED:
        return outer.child(0) == node
    return outer.type in _CHAINED


def _flat(top: Node, seen: set[int]) -> list[Node]:
    """Operands, operators and `as` or `satisfies` of a chain from left to right, without types.

    A prefix node comes before its operand, because the grammar may have made the operand too long.
    """
    parts: list[Node] = []
    tasks = [top]
    while tasks:
        node = tasks.pop()
        if node.type not in _CHAINED:
            parts.append(node)
            continue
        seen.add(node.id)
        children = [child for child in node.children if child.type != "comment"]
        if node.type in _ASSERTIONS:
            children = children[:2]
        elif node.type in _PREFIXED:
            parts.append(node)
            children = children[-1:]
        elif node.type in _POSTFIXED:
            children = children[:1]
        tasks.extend(reversed(children))
    return parts
