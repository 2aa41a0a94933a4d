"""Which of the lent functions give promises, read from an order."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any, NamedTuple

from ..wire.messages import ASYNC
from ..wire.order import Order

_LONGEST_VALUES = 1_000_000  # characters of lent values that are read for their functions


class Promising(NamedTuple):
    """Free names, and exports by specifier."""

    names: frozenset[str] = frozenset()
    exports: dict[str, frozenset[str]] = {}  # noqa: RUF012  # nobody changes it


def promising(order: Order) -> Promising:
    """Nothing of values that are plain JSON, which holds no functions, or that are very long."""
    if not order.values.startswith("T") or len(order.values) > _LONGEST_VALUES:
        return Promising()
    root, *nodes = json.loads(order.values[1:])
    table = _Table(nodes)
    imports, bindings, *_ = map(table.items, table.items(root))
    return Promising(
        table.asynchronous(order.globals, bindings),
        {
            specifier: table.asynchronous(names, table.items(values))
            for (specifier, names), values in zip(order.imports.items(), imports, strict=False)
        },
    )


class _Table:
    """The nodes of an encoded value; a reference to one is a list with its number."""

    def __init__(self, nodes: list[list[Any]]) -> None:
        self._nodes = nodes

    def items(self, reference: Any) -> list[Any]:
        node = self._nodes[reference[0]]
        return node[1:] if node[0] == "a" else []

    def asynchronous(self, names: Iterable[str], references: list[Any]) -> frozenset[str]:
        pairs = zip(names, references, strict=False)
        return frozenset(name for name, reference in pairs if self._is_asynchronous(reference))

    def _is_asynchronous(self, reference: Any) -> bool:
        if not isinstance(reference, list) or type(reference[0]) is not int:
            return False  # a value that needs no node
        node = self._nodes[reference[0]]
        return bool(node[0] == "f" and node[2] == ASYNC)
