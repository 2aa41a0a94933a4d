"""Tables: the wire form of values that may be cyclic, share objects, or contain functions.

`T` and a JSON list `[root, node, node …]`. An *item* is a JSON scalar, `[i]` for node i, or `["u"]`
undefined, `["n", text]` a number JSON lacks, `["b", hex]` a bigint. A *node* is
    ["a", item…] array       ["o", key, item…] object    ["m", key, item…] Map    ["s", item…] Set
    ["d", ms] Date           ["e", name, message, stack] Error        ["x", type, attachment] binary
    ["f", id, mode, name] function     ["p", id] promise     ["q", class, text, fields] description
Nodes refer to each other by number, so depth costs no recursion and cycles need no special case.
"""

from __future__ import annotations

import struct
from array import array
from collections.abc import Callable, Sequence
from typing import Any, Protocol

from ..values import (
    TYPED_ARRAYS,
    ArrayBuffer,
    BigInt,
    GuestError,
    JSMap,
    JSSet,
    Opaque,
    undefined,
)
from .frame import Buffer
from .scalars import check_keys, date_of, fit_for_sets, index_below, take_attachment
from .slices import BATCH, Steps, in_batches


class Borrower(Protocol):
    """Makes Python objects for the guest functions and promises in a value."""

    def guest_function(self, ident: int, name: str) -> Any: ...
    def guest_promise(self, ident: int) -> Any: ...


_ARRAY_CODES = {TYPED_ARRAYS[code]: code for code in "bhHiIqQfd"} | {"Uint8ClampedArray": "B"}
_CONTAINERS: dict[str, Callable[[], Any]] = {"a": list, "o": dict, "m": JSMap, "s": set}
_SCALARS = frozenset((str, int, float, bool, type(None)))


def decode_table(
    table: list[Any], attachments: Sequence[Buffer], borrower: Borrower | None, ordered: bool
) -> Steps:
    """The value of the root. Raises ValueError and its like for anything that is not a table."""
    return _Reader(table, attachments, borrower, ordered).value()


class _Reader:
    """Two passes without recursion: make every node's object, then fill the containers.

    A node is reached only through its number, so a table may be cyclic.
    """

    def __init__(
        self,
        table: list[Any],
        attachments: Sequence[Buffer],
        borrower: Borrower | None,
        ordered: bool,
    ) -> None:
        self._attachments: list[Buffer | None] = list(attachments)
        self._ordered = ordered
        self._borrower = borrower
        self._root = table[0]
        self._nodes = table[1:]
        self._objects: list[Any] = []

    def value(self) -> Steps:
        for nodes in in_batches(self._nodes):
            self._objects += map(self._make, nodes)
            yield
        for index, node in enumerate(self._nodes):
            if node[0] == "s":
                self._objects[index] = yield from self._new_set(node)
        work = 0
        for node, target in zip(self._nodes, self._objects, strict=True):
            work += len(node)
            if work > BATCH:
                work = len(node)
                yield
            if len(node) > BATCH:
                yield from self._fill_large(node, target)
            else:
                self._fill(node, target)
        return self._item(self._root)

    def _item(self, item: Any) -> Any:
        if type(item) is not list:
            if type(item) is dict:
                raise ValueError("an item is an object")
            return item
        if len(item) == 1:
            if item[0] == "u":
                return undefined
            return self._objects[index_below(item[0], len(self._objects))]
        tag, text = item
        if tag == "b":
            return BigInt(text, 16)
        if tag == "n":
            return float(text)
        raise ValueError("an item has an unknown kind")

    def _make(self, node: list[Any]) -> Any:
        tag = node[0]
        if tag in _CONTAINERS:
            return _CONTAINERS[tag]()
        if tag == "d":
            return date_of(*node[1:])
        return getattr(self, _MAKERS[tag])(*node[1:])

    def _new_set(self, node: list[Any]) -> Steps:
        """An empty set if it can hold every member as JavaScript does, a JSSet otherwise."""
        if self._ordered:
            check_keys(node)
            return JSSet()
        members: list[Any] = []
        for batch in in_batches(node[1:]):
            check_keys(batch)
            members += map(self._item, batch)
            yield
        if not fit_for_sets(members, len(members)):
            return JSSet()
        return set() if len(set(members)) == len(members) else JSSet()

    def _fill_large(self, node: list[Any], target: Any) -> Steps:
        """As many of its items at a time as may be; entries come in pairs."""
        for start in range(1, len(node), BATCH):
            self._fill([node[0], *node[start : start + BATCH]], target)
            yield

    def _fill(self, node: list[Any], target: Any) -> None:
        tag = node[0]
        if tag == "a":
            item_of = self._item
            target.extend([v if type(v) in _SCALARS else item_of(v) for v in node[1:]])
        elif tag == "o":
            for at in range(1, len(node), 2):
                item = node[at + 1]
                target[_text(node[at])] = item if type(item) in _SCALARS else self._item(item)
        elif tag == "m":
            check_keys(node[1::2])
            for at in range(1, len(node), 2):
                target[self._item(node[at])] = self._item(node[at + 1])
        elif tag == "s":
            for member in node[1:]:
                target.add(self._item(member))
        elif tag == "q" and node[3] is not None:
            fields = self._item(node[3])
            target.fields = fields if isinstance(fields, dict) else None

    def _error(self, name: Any, message: Any, stack: Any) -> GuestError:
        return GuestError(_text(name), _text(message), None if stack is None else _text(stack))

    def _binary(self, kind: Any, index: Any) -> Any:
        data = take_attachment(self._attachments, index)
        if kind == "Uint8Array":
            return bytes(data)
        if kind == "ArrayBuffer":
            return ArrayBuffer(data)
        if kind == "Float16Array":
            return array("f", (half for (half,) in struct.iter_unpack("<e", data)))
        typed = array(_ARRAY_CODES[kind])
        typed.frombytes(data)
        return typed

    def _function(self, ident: Any, name: Any) -> Any:
        if self._borrower is None:
            raise ValueError("a function is not allowed here")
        return self._borrower.guest_function(index_below(ident, 1 << 32), _text(name))

    def _promise(self, ident: Any) -> Any:
        if self._borrower is None:
            raise ValueError("a promise is not allowed here")
        return self._borrower.guest_promise(index_below(ident, 1 << 32))

    def _opaque(self, class_name: Any, text: Any, fields: Any) -> Opaque:
        return Opaque(_text(class_name), _text(text))


_MAKERS = {
    "e": "_error",
    "x": "_binary",
    "f": "_function",
    "p": "_promise",
    "q": "_opaque",
}


def _text(value: Any) -> str:
    if type(value) is not str:
        raise ValueError("a text is not a string")
    return value
