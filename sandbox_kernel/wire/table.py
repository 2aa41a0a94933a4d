"""Tables: the wire form of values that may be cyclic, share objects, or contain functions.

`T` and a JSON list `[root, node, node …]`. An *item* is a JSON scalar, `[i]` for node i, or `["u"]`
undefined, `["n", text]` a number JSON lacks, `["b", hex]` a bigint. A *node* is
    ["a", item…] array       ["o", key, item…] object    ["m", key, item…] Map    ["s", item…] Set
    ["d", ms] Date           ["e", name, message, stack] Error        ["x", type, attachment] binary
    ["f", id, mode, name] function     ["p", id] promise     ["q", class, text, fields] description
Nodes refer to each other by number, so depth costs no recursion and cycles need no special case.
Only to the guest (`tabulate.py`):
    ["j", value] what JSON represents    ["r", count, name, item…] rows of objects, given by columns
    ["N", type, attachment] array of numbers, null for NaN      ["D", type, attachment] of Dates
"""

from __future__ import annotations

import struct
from array import array
from collections.abc import Callable, Sequence
from typing import Any, Protocol

from ..values import (
    TYPED_ARRAYS,
    ArrayBuffer,
    GuestError,
    JSMap,
    JSSet,
    Opaque,
    undefined,
)
from .frame import Buffer
from .scalars import (
    bigint_of,
    check_keys,
    date_of,
    fit_for_sets,
    index_below,
    number_of,
    take_attachment,
)
from .slices import BATCH, Charge, Steps, in_batches
from .weight import ENTRY, FUNCTION, MEMBER, PROMISE


class Borrower(Protocol):
    """Makes Python objects for the guest functions and promises in a value."""

    def guest_function(self, ident: int, name: str) -> Any: ...
    def guest_promise(self, ident: int) -> Any: ...


_ARRAY_CODES = {TYPED_ARRAYS[code]: code for code in "bhHiIqQfd"} | {"Uint8ClampedArray": "B"}
_CONTAINERS: dict[str, Callable[[], Any]] = {"a": list, "o": dict, "m": JSMap, "s": set}
_FILLED = frozenset((*_CONTAINERS, "q"))  # the tags of nodes that refer to others
_SCALARS = frozenset((str, int, float, bool, type(None)))
_USED = [""]  # in place of a node that is no longer needed
_FEW, _LONG = 16, 10_000  # items; digits
_CHUNK = 1 << 22  # bytes that are copied between two pauses


def decode_table(
    table: list[Any],
    attachments: Sequence[Buffer],
    borrower: Borrower | None,
    charge: Charge,
    ordered: bool,
) -> Steps:
    """The value of the root. Raises ValueError and its like for anything that is not a table.

    Uses the table up, so that it is not in memory together with all that is made of it.
    """
    return _Reader(table, attachments, borrower, charge, ordered).value()


class _Reader:
    """Two passes without recursion: make every node's object, then fill the containers.

    A node is reached only through its number, so a table may be cyclic.
    """

    def __init__(
        self,
        table: list[Any],
        attachments: Sequence[Buffer],
        borrower: Borrower | None,
        charge: Charge,
        ordered: bool,
    ) -> None:
        self._attachments: list[Buffer | None] = list(attachments)
        self._ordered = ordered
        self._borrower = borrower
        self._charge = charge
        self._root = table.pop(0)
        self._nodes = table
        self._objects: list[Any] = []

    def value(self) -> Steps:
        yield from self._make_all()
        yield from self._make_sets()
        yield from self._fill_all()
        return self._item(self._root)

    def _make_all(self) -> Steps:
        for at, node in enumerate(self._nodes):
            if type(node) is not list:
                raise ValueError("a node is not a list")
            if node[0] == "x":
                self._objects.append((yield from self._binary(*node[1:])))
            else:
                self._objects.append(self._make(node))
            if node[0] not in _FILLED:
                self._nodes[at] = _USED
            if at % BATCH == 0:
                yield

    def _make_sets(self) -> Steps:
        for at, node in enumerate(self._nodes):
            if node[0] == "s":
                self._objects[at] = made = yield from self._new_set(node)
                if type(made) is set:
                    self._nodes[at] = _USED
            if at % BATCH == 0:
                yield

    def _fill_all(self) -> Steps:
        work = 0
        for at, target in enumerate(self._objects):
            node = self._nodes[at]
            self._nodes[at] = _USED
            work += len(node)
            if work > BATCH:
                work = len(node)
                yield
            if len(node) > _at_once(node):
                yield from self._fill_large(node, target)
            else:
                self._fill(node, target)

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
            return bigint_of(text)
        if tag == "n":
            return number_of(text)
        raise ValueError("an item has an unknown kind")

    def _make(self, node: list[Any]) -> Any:
        tag = node[0]
        if tag in _CONTAINERS:
            return _CONTAINERS[tag]()
        if tag == "d":
            return date_of(*node[1:])
        if tag not in _MAKERS:
            raise ValueError("a node has an unknown kind")
        return getattr(self, _MAKERS[tag])(*node[1:])

    def _new_set(self, node: list[Any]) -> Steps:
        """The set if Python's can hold every member as JavaScript does, an empty JSSet otherwise."""
        size = len(node) - 1
        self._charge(MEMBER * size)
        if self._ordered:
            return JSSet()
        found: set[Any] = set()
        for batch in in_batches(node[1:], _at_once(node)):
            check_keys(batch)
            members = list(map(self._item, batch))
            if not fit_for_sets(members, size):
                return JSSet()
            found.update(members)
            yield
        return found if len(found) == size else JSSet()

    def _fill_large(self, node: list[Any], target: Any) -> Steps:
        """As many of its items at a time as may be; entries come in pairs."""
        some = _at_once(node)
        for start in range(1, len(node), some):
            self._fill([node[0], *node[start : start + some]], target)
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
            self._charge(ENTRY * (len(node) // 2))
            for at in range(1, len(node), 2):
                target[self._item(node[at])] = self._item(node[at + 1])
        elif tag == "s":
            check_keys(node[1:])
            for member in node[1:]:
                target.add(self._item(member))
        elif tag == "q" and node[3] is not None:
            fields = self._item(node[3])
            target.fields = fields if isinstance(fields, dict) else None

    def _error(self, name: Any, message: Any, stack: Any) -> GuestError:
        return GuestError(_text(name), _text(message), None if stack is None else _text(stack))

    def _binary(self, kind: Any, index: Any) -> Steps:
        data = memoryview(take_attachment(self._attachments, index))
        if kind == "Uint8Array":
            return bytes(data)
        if kind == "ArrayBuffer":
            return ArrayBuffer(data)
        if kind == "Float16Array":
            return (yield from self._half_floats(data))
        if kind not in _ARRAY_CODES:
            raise ValueError("binary data has an unknown kind")
        typed = array(_ARRAY_CODES[kind])
        for start in range(0, len(data), _CHUNK):
            typed.frombytes(data[start : start + _CHUNK])
            yield
        return typed

    def _half_floats(self, data: memoryview) -> Steps:
        """Python has no array of them; theirs takes twice the room."""
        self._charge(len(data))
        made = array("f")
        for start in range(0, len(data), 2 * BATCH):
            made.extend(half for (half,) in struct.iter_unpack("<e", data[start:][: 2 * BATCH]))
            yield
        return made

    def _function(self, ident: Any, name: Any) -> Any:
        if self._borrower is None:
            raise ValueError("a function is not allowed here")
        self._charge(FUNCTION)
        return self._borrower.guest_function(index_below(ident, 1 << 32), _text(name))

    def _promise(self, ident: Any) -> Any:
        if self._borrower is None:
            raise ValueError("a promise is not allowed here")
        self._charge(PROMISE)
        return self._borrower.guest_promise(index_below(ident, 1 << 32))

    def _opaque(self, class_name: Any, text: Any, fields: Any) -> Opaque:
        return Opaque(_text(class_name), _text(text))


_MAKERS = {
    "e": "_error",
    "f": "_function",
    "p": "_promise",
    "q": "_opaque",
}


def _at_once(node: list[Any]) -> int:
    """Items that may be made between two pauses: few, if there are bigints that are long to read."""
    for item in node[1 : BATCH + 1]:
        if type(item) is list and len(item) == 2 and len(item[1]) > _LONG:
            return _FEW
    return BATCH


def _text(value: Any) -> str:
    if type(value) is not str:
        raise ValueError("a text is not a string")
    return value
