"""Python values to and from their wire form; the other half is `worker/bootstrap/codec.js`.

`P` and JSON: plain data, without anything JSON cannot say and without shared references.
`T` and a JSON table `[root, node, node …]`: everything else. An *item* is a JSON scalar, `[i]` for
node i, or `["u"]` undefined, `["n", text]` a number JSON lacks, `["b", hex]` a bigint. A *node* is
    ["a", item…] array       ["o", key, item…] object    ["m", key, item…] Map    ["s", item…] Set
    ["d", ms] Date           ["e", name, message, stack] Error        ["x", type, attachment] binary
    ["f", id, mode, name] function     ["p", id] promise     ["q", class, text, fields] description
Nodes refer to each other by number, so depth costs no recursion and cycles need no special case.
"""

from __future__ import annotations

import itertools
import json
import math
import struct
import sys
from array import array
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any, Protocol

from ..errors import ProtocolError, SerializationError
from ..values import (
    ArrayBuffer,
    BigInt,
    GuestError,
    JSMap,
    JSSet,
    Opaque,
    Undefined,
    undefined,
)
from .frame import Buffer

MAX_SAFE_INTEGER = 2**53 - 1
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_PLAIN_DEPTH = 100


class Lender(Protocol):
    """Who keeps the host functions and awaitables that values mention."""

    def lend_function(self, function: Callable[..., Any]) -> tuple[int, int, str]: ...
    def lend_awaitable(self, awaitable: Any) -> int: ...


class Borrower(Protocol):
    """Who makes Python objects for the guest functions and promises that values mention."""

    def guest_function(self, ident: int, name: str) -> Any: ...
    def guest_promise(self, ident: int) -> Any: ...


# ---------------------------------------------------------------------------- encoding


def encode(value: Any, path: str, lender: Lender | None) -> tuple[str, list[Buffer]]:
    """The wire text and its attachments; `path` names the root in a SerializationError."""
    if type(value) in _SIMPLE or _is_plain(value):
        return "P" + _dump(value), []
    table = _Table(path, lender)
    return "T" + _dump(table.build(value)), table.attachments


_SIMPLE = (str, bool, type(None))


def encode_error(name: str, message: str) -> str:
    """An Error made by the host itself."""
    return "T" + _dump([[0], ["e", name, message, None]])


_dump = json.JSONEncoder(separators=(",", ":"), check_circular=False).encode


def _is_plain(root: Any) -> bool:
    """Whether JSON says it all: exact types only, no shared containers, no great depth."""
    seen: set[int] = set()
    level: list[Any] = [root]
    for _ in range(_PLAIN_DEPTH):
        below: list[Any] = []
        for value in level:
            kind = type(value)
            if kind is str or kind is bool or value is None:
                continue
            if kind is int:
                if -MAX_SAFE_INTEGER <= value <= MAX_SAFE_INTEGER:
                    continue
                return False
            if kind is float:
                if math.isfinite(value) and (value or math.copysign(1.0, value) > 0):
                    continue
                return False
            if id(value) in seen:
                return False
            if kind is dict:
                if not all(type(key) is str for key in value):
                    return False
                below.extend(value.values())
            elif kind is list or kind is tuple:
                below.extend(value)
            else:
                return False
            seen.add(id(value))
        if not below:
            return True
        level = below
    return False


_BUFFER_TYPES = {
    "b": "Int8Array",
    "B": "Uint8Array",
    "h": "Int16Array",
    "H": "Uint16Array",
    "i": "Int32Array",
    "I": "Uint32Array",
    "e": "Float16Array",
    "f": "Float32Array",
    "d": "Float64Array",
    "q": "BigInt64Array",
    "Q": "BigUint64Array",
    "l": "BigInt64Array" if array("l").itemsize == 8 else "Int32Array",
    "L": "BigUint64Array" if array("L").itemsize == 8 else "Uint32Array",
    "c": "Uint8Array",
    "?": "Uint8Array",
}


class _Table:
    """Breadth first: a container gets its number when it is met, its node when its turn comes."""

    def __init__(self, path: str, lender: Lender | None) -> None:
        self.attachments: list[Buffer] = []
        self._root_path = path
        self._lender = lender
        self._numbers: dict[int, int] = {}
        self._queue: list[Any] = []
        self._came_from: list[tuple[int, str]] = []  # parent's number (-1: root), step

    def build(self, root: Any) -> list[Any]:
        table = [self._item(root, -1, "")]
        done = 0
        while done < len(self._queue):
            table.append(self._node(self._queue[done], done))
            done += 1
        return table

    def _item(self, value: Any, parent: int, step: str) -> Any:
        if value is None or isinstance(value, bool):
            return value
        if isinstance(value, str):
            return str.__str__(value)
        if getattr(value, "ndim", None) == 0 and hasattr(value, "item"):
            return self._item(value.item(), parent, step)  # a numpy scalar
        if isinstance(value, int):
            if isinstance(value, BigInt) or abs(value) > MAX_SAFE_INTEGER:
                return ["b", format(value, "x")]
            return int(value)
        if isinstance(value, float):
            return _number_item(float(value))
        if isinstance(value, Undefined):
            return ["u"]
        number = self._numbers.get(id(value))
        if number is None:
            number = self._numbers[id(value)] = len(self._queue)
            self._queue.append(value)
            self._came_from.append((parent, step))
        return [number]

    def _node(self, value: Any, me: int) -> list[Any]:
        if isinstance(value, Mapping):
            return self._mapping_node(value, me)
        if isinstance(value, list | tuple):
            return ["a", *(self._item(v, me, f"[{i}]") for i, v in enumerate(value))]
        if isinstance(value, set | frozenset | JSSet):
            return ["s", *(self._item(v, me, f"<member {i}>") for i, v in enumerate(value))]
        if isinstance(value, datetime):
            return self._date_node(value, me)
        if isinstance(value, BaseException):
            return _error_node(value)
        if isinstance(value, Opaque):
            return self._refuse(value, me)
        if callable(value) and not isinstance(value, type):
            return self._function_node(value, me)
        if hasattr(value, "__await__"):
            if self._lender is None:
                return self._refuse(value, me)
            return ["p", self._lender.lend_awaitable(value)]
        return self._binary_node(value, me) or self._refuse(value, me)

    def _mapping_node(self, value: Mapping[Any, Any], me: int) -> list[Any]:
        node: list[Any] = []
        if not isinstance(value, JSMap) and all(isinstance(key, str) for key in value):
            for key, item in value.items():
                node += (str.__str__(key), self._item(item, me, _step(key)))
            return ["o", *node]
        for index, (key, item) in enumerate(value.items()):
            node.append(self._item(key, me, f"<key {index}>"))
            node.append(self._item(item, me, f"<value {index}>"))
        return ["m", *node]

    def _date_node(self, value: datetime, me: int) -> list[Any]:
        if value.tzinfo is None:
            self._fail("a datetime without a time zone is no moment in time", me)
        milliseconds = (value - _EPOCH) / timedelta(milliseconds=1)
        return ["d", milliseconds if math.isfinite(milliseconds) else None]

    def _function_node(self, value: Callable[..., Any], me: int) -> list[Any]:
        if self._lender is None:
            return self._refuse(value, me)
        return ["f", *self._lender.lend_function(value)]

    def _binary_node(self, value: Any, me: int) -> list[Any] | None:
        try:
            view = memoryview(value)
        except TypeError:
            return None
        if isinstance(value, ArrayBuffer):
            return self._attach("ArrayBuffer", view)
        code = view.format.lstrip("@=<" if sys.byteorder == "little" else "@=>")
        if code not in _BUFFER_TYPES:
            self._fail(f"a buffer of format {view.format!r} has no typed array", me)
        if view.ndim != 1:
            self._fail(f"a buffer of {view.ndim} dimensions is no typed array; flatten it", me)
        return self._attach(_BUFFER_TYPES[code], view)

    def _attach(self, kind: str, view: memoryview) -> list[Any]:
        flat = view if view.c_contiguous else memoryview(view.tobytes())
        self.attachments.append(flat.cast("B") if flat.nbytes else b"")
        return ["x", kind, len(self.attachments) - 1]

    def _refuse(self, value: Any, me: int) -> list[Any]:
        self._fail(f"{_describe(value)} cannot cross into the sandbox", me)
        return []

    def _fail(self, message: str, me: int) -> None:
        steps: list[str] = []
        while me >= 0:
            me, step = self._came_from[me]
            steps.append(step)
        raise SerializationError(message, self._root_path + "".join(reversed(steps)))


def _describe(value: Any) -> str:
    kind = type(value)
    if kind is type:
        return f"the class {value.__name__}"
    return f"a value of type {kind.__module__}.{kind.__qualname__}".replace("builtins.", "")


def _step(key: str) -> str:
    return f".{key}" if key.isidentifier() else f"[{key!r}]"


def _number_item(value: float) -> Any:
    if math.isfinite(value):
        return value if value or math.copysign(1.0, value) > 0 else ["n", "-0"]
    return ["n", "NaN" if value != value else "Infinity" if value > 0 else "-Infinity"]


def error_identity(error: BaseException) -> tuple[str, str]:
    """An exception as the guest may see it: a name and a message, nothing of the host."""
    if isinstance(error, GuestError):
        return error.name, error.message
    if isinstance(error, KeyError) and len(error.args) == 1:
        return "KeyError", str(error.args[0])
    if isinstance(error, OSError) and error.strerror:
        return type(error).__name__, error.strerror
    try:
        return type(error).__name__, str(error)
    except Exception:
        return type(error).__name__, ""


def _error_node(error: BaseException) -> list[Any]:
    return ["e", *error_identity(error), None]


# ---------------------------------------------------------------------------- decoding


def weight(text: Buffer, attachments: Sequence[Buffer]) -> int:
    """About what a message takes in memory once decoded: told without decoding it."""
    raw = text if type(text) is bytes else bytes(text)
    containers = raw.count(b"[") + 2 * raw.count(b"{")
    size = 128 + len(raw) + 64 * containers + 40 * raw.count(b",")
    if not raw.isascii():
        size += 3 * len(raw)
    return size + sum(map(len, attachments)) + 200 * len(attachments)


def decode_lines(
    text: Buffer, borrower: Callable[[str], Borrower | None]
) -> Iterator[tuple[str, Any]]:
    """A letter and a value for each line; plain ones next to each other are read in one go."""
    try:
        *lines, last = str(text, "utf-8", "strict").split("\n")
    except ValueError as error:
        raise ProtocolError(f"lines that are no text: {error}") from None
    if last:
        raise ProtocolError("a last line that does not end")
    for plain, group in itertools.groupby(lines, lambda line: line[1:2] == "P"):
        if plain:
            yield from _plain_lines(list(group))
            continue
        for line in group:
            letter = line[:1]
            yield letter, decode(line[1:], (), borrower(letter), ordered=letter == "L")


def _plain_lines(lines: list[str]) -> Iterator[tuple[str, Any]]:
    try:
        found = json.loads("[" + ",".join(line[2:] for line in lines) + "]")
    except _UNREADABLE as error:
        raise ProtocolError(f"a value that cannot be read: {error}") from None
    if len(found) != len(lines):
        raise ProtocolError("a line that is not one value")
    return zip((line[0] for line in lines), found, strict=True)


def decode(
    text: str | Buffer,
    attachments: Sequence[Buffer],
    borrower: Borrower | None,
    *,
    ordered: bool = False,
) -> Any:
    """The value a worker sent. Any bytes whatever end in a value or in a ProtocolError.

    `ordered` is for values to be shown: Sets keep their order, which Python's do not.
    """
    try:
        form, rest = _split_form(text)
        parsed = json.loads(rest)
        if form == "P":
            return parsed
        if form == "T" and isinstance(parsed, list) and parsed:
            return _Reader(parsed, attachments, borrower, ordered).value
    except _UNREADABLE as error:
        raise ProtocolError(f"a value that cannot be read: {str(error)[:200]}") from None
    raise ProtocolError("a value of unknown form")


_UNREADABLE = (
    ValueError, TypeError, KeyError, IndexError, RecursionError, OverflowError, struct.error
)  # fmt: skip


def _split_form(text: str | Buffer) -> tuple[str, str]:
    whole = text if isinstance(text, str) else str(text, "utf-8", "strict")
    return whole[:1], whole[1:]


_ARRAY_CODES = {
    "Int8Array": "b",
    "Uint8ClampedArray": "B",
    "Int16Array": "h",
    "Uint16Array": "H",
    "Int32Array": "i",
    "Uint32Array": "I",
    "Float32Array": "f",
    "Float64Array": "d",
    "BigInt64Array": "q",
    "BigUint64Array": "Q",
}
_LARGE_HEX = 16  # digits of a bigint from 2**60 on; hashes of smaller ones differ
_NUMBERS = {"NaN": math.nan, "Infinity": math.inf, "-Infinity": -math.inf, "-0": -0.0}
_CONTAINERS: dict[str, Callable[[], Any]] = {"a": list, "o": dict, "m": JSMap, "s": set}


_SCALARS = frozenset((str, int, float, bool, type(None)))


class _Reader:
    """Two passes without recursion: make every node's object, then fill the containers.

    A node is reached through its number only, so one worker's table can be as cyclic as it likes.
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
        self._nodes = table[1:]
        self._objects = [self._make(node) for node in self._nodes]
        for index, node in enumerate(self._nodes):
            if node[0] == "s":
                self._objects[index] = self._new_set(node)
        for node, target in zip(self._nodes, self._objects, strict=True):
            self._fill(node, target)
        self.value = self._item(table[0])

    def _item(self, item: Any) -> Any:
        if type(item) is not list:
            if type(item) is dict:
                raise ValueError("an item that is an object")
            return item
        if len(item) == 1:
            if item[0] == "u":
                return undefined
            return self._objects[_index(item[0], len(self._objects))]
        tag, text = item
        if tag == "b":
            return BigInt(text, 16)
        if tag == "n":
            return _NUMBERS[text] if text in _NUMBERS else float(text)
        raise ValueError("an item of unknown kind")

    def _make(self, node: list[Any]) -> Any:
        tag = node[0]
        if tag in _CONTAINERS:
            return _CONTAINERS[tag]()
        return getattr(self, _MAKERS[tag])(*node[1:])

    def _new_set(self, node: list[Any]) -> Any:
        """An empty set if it can hold every member as JavaScript does, a JSSet otherwise."""
        if self._ordered:
            return JSSet()
        try:
            members = {self._item(member) for member in node[1:] if self._is_value(member)}
        except TypeError:
            return JSSet()
        return set() if len(members) == len(node) - 1 else JSSet()

    def _is_value(self, member: Any) -> bool:
        """Whether Python compares it by value, as JavaScript does.

        Not large bigints: a guest can make as many as it likes that Python hashes alike.
        """
        if type(member) is not list:
            return True
        return member[0] == "u" or (len(member) == 2 and len(member[1]) < _LARGE_HEX)

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
            for at in range(1, len(node), 2):
                target[self._item(node[at])] = self._item(node[at + 1])
        elif tag == "s":
            for member in node[1:]:
                target.add(self._item(member))
        elif tag == "q" and node[3] is not None:
            fields = self._item(node[3])
            target.fields = fields if isinstance(fields, dict) else None

    def _date(self, milliseconds: Any) -> Any:
        if milliseconds is None:
            return Opaque("Date", "Invalid Date")
        moment = timedelta(milliseconds=float(milliseconds))
        try:
            return _EPOCH + moment
        except OverflowError:
            return Opaque("Date", f"Date({milliseconds})")

    def _error(self, name: Any, message: Any, stack: Any) -> GuestError:
        return GuestError(_text(name), _text(message), None if stack is None else _text(stack))

    def _binary(self, kind: Any, index: Any) -> Any:
        data = self._attachments[_index(index, len(self._attachments))]
        if data is None:
            raise ValueError("binary data that is used twice")
        self._attachments[index] = None
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
            raise ValueError("a function where none may be")
        return self._borrower.guest_function(_index(ident, 1 << 32), _text(name))

    def _promise(self, ident: Any) -> Any:
        if self._borrower is None:
            raise ValueError("a promise where none may be")
        return self._borrower.guest_promise(_index(ident, 1 << 32))

    def _opaque(self, class_name: Any, text: Any, fields: Any) -> Opaque:
        return Opaque(_text(class_name), _text(text))


_MAKERS = {
    "d": "_date",
    "e": "_error",
    "x": "_binary",
    "f": "_function",
    "p": "_promise",
    "q": "_opaque",
}


def _index(value: Any, end: int) -> int:
    if type(value) is not int or not 0 <= value < end:
        raise ValueError(f"no such number: {value!r}")
    return value


def _text(value: Any) -> str:
    if type(value) is not str:
        raise ValueError("text expected")
    return value
