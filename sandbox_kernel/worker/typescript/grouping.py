"""Keeps together what an assertion kept together: `a + b as T * c` multiplies the sum.

An assertion binds like a comparison, so an operator behind it may bind tighter than one in front of
it. With the type gone, that operator would take the nearest operand only. The tree is no help, as
the grammar gives assertions a precedence of its own; so a chain of operators is flattened, and
grouped again the way TypeScript does it.
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
    """What has been read as one operand: where it starts, and its weakest operator."""

    start: int
    weakest: int


class Grouping:
    """Regroups the chains that assertions stand in, each of them once."""

    def __init__(self, page: Page, root: Node, assertions: Iterable[Node]) -> None:
        self.page = page
        self.around = parents(root, _CHAINED, assertions)
        self.done: set[int] = set()

    def keep(self, assertion: Node) -> None:
        """Parenthesize whatever needs it in the chain around this assertion."""
        if assertion.id in self.done:
            return
        top = assertion
        while (outer := self.around.get(top.id)) is not None and _continues(outer, top):
            top = outer
        self._regroup(_flat(top, self.done))

    def _regroup(self, parts: list[Node]) -> None:
        """Operator precedence, with assertions as operators that have no right side."""
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
    """Finish the operators that bind at least as tightly as the one that comes now."""
    while waiting and (waiting[-1][1] > level or waiting[-1][1] == level != _POWER):
        left, finished = waiting.pop()
        operand = _Operand(left.start, finished)
    return operand


def _continues(outer: Node, node: Node) -> bool:
    """Whether a chain goes on in what is around it, rather than being an argument or an index."""
    if outer.type in _POSTFIXED:
        return outer.child(0) == node
    return outer.type in _CHAINED


def _flat(top: Node, seen: set[int]) -> list[Node]:
    """Operands, operators and asserting words of a chain from left to right, without types.

    A node with a prefix comes before its operand, which may not be all that the grammar says.
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
