"""Encodes Python values for the guest: what it is lent, arguments, and results of calls."""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Callable, Mapping
from datetime import UTC, datetime, timedelta
from typing import Any, Protocol

from ..errors import SerializationError
from ..values import (
    MAX_SAFE_INTEGER,
    TYPED_ARRAYS,
    ArrayBuffer,
    BigInt,
    GuestError,
    JSMap,
    JSSet,
    Opaque,
    Undefined,
)
from .frame import Buffer
from .scalars import EPOCH

_PLAIN_DEPTH = 100


class Lender(Protocol):
    """Keeps the host functions and awaitables in a value, and numbers them."""

    @property
    def naive_is_utc(self) -> bool:
        """Whether a datetime without a time zone is meant as UTC; if not, it is refused."""

    def lend_function(self, function: Callable[..., Any]) -> tuple[int, int, str]: ...
    def lend_awaitable(self, awaitable: Any) -> int: ...


def encode(value: Any, path: str, lender: Lender | None) -> tuple[str, list[Buffer]]:
    """The wire text and its attachments; `path` names the root in a SerializationError."""
    kind = type(value)
    if kind is int and -MAX_SAFE_INTEGER <= value <= MAX_SAFE_INTEGER:
        return f"P{value}", []
    if kind in _SIMPLE or _is_plain(value):
        return "P" + _dump(value), []
    table = _Table(path, lender)
    return "T" + _dump(table.build(value)), table.attachments


_SIMPLE = (str, bool, type(None))


def encode_error(error: BaseException) -> str:
    """The wire text of an exception: its name, its message and its code, if that is a text."""
    return "T" + _dump([[0], _error_node(error)])


_LONGEST_CODE = 200  # characters
_dump = json.JSONEncoder(separators=(",", ":"), check_circular=False).encode


def _is_plain(root: Any) -> bool:
    """Whether JSON represents it exactly: built-in types, no shared containers, not too deep."""
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


_BUFFER_TYPES = {**TYPED_ARRAYS, "e": "Float16Array", "c": "Uint8Array", "?": "Uint8Array"}


class _Table:
    """Breadth first: a container is numbered when it is first seen, and encoded in that order."""

    def __init__(self, path: str, lender: Lender | None) -> None:
        self.attachments: list[Buffer] = []
        self._root_path = path
        self._lender = lender
        self._numbers: dict[int, int] = {}
        self._queue: list[Any] = []
        self._came_from: list[
            tuple[int, str]
        ] = []  # number of the parent (-1 is the root), step from it

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
            if self._lender is None or not self._lender.naive_is_utc:
                self._fail(
                    "a datetime needs a time zone to be a Date; add one, such as"
                    " replace(tzinfo=UTC), or give run_code the option naive='utc'",
                    me,
                )
            value = value.replace(tzinfo=UTC)
        milliseconds = (value - EPOCH) / timedelta(milliseconds=1)
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
            self._fail(
                f"no typed array has items of format {view.format!r}; pass a list, or numbers such as"
                " float64",
                me,
            )
        if view.ndim != 1:
            self._fail(
                f"a typed array has one dimension, not {view.ndim} dimensions; flatten it, or pass"
                " nested lists",
                me,
            )
        return self._attach(_BUFFER_TYPES[code], view)

    def _attach(self, kind: str, view: memoryview) -> list[Any]:
        flat = view if view.c_contiguous else memoryview(view.tobytes())
        self.attachments.append(flat.cast("B") if flat.nbytes else b"")
        return ["x", kind, len(self.attachments) - 1]

    def _refuse(self, value: Any, me: int) -> list[Any]:
        self._fail(f"{_describe(value)} cannot cross into the sandbox; {_instead(value)}", me)
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


# What to pass instead of a value, by the name of its type.
_INSTEAD = {
    "complex": "pass its real and imaginary parts",
    "date": "pass a datetime with a time zone, or its isoformat()",
    "Decimal": "pass a float or a string",
    "generator": "pass a list",
    "module": "pass a dict of its functions",
    "range": "pass a list",
    "timedelta": "pass its total_seconds()",
    "type": "pass a function that uses it",
    "UUID": "pass a string",
}


def _instead(value: Any) -> str:
    return _INSTEAD.get(type(value).__name__, "pass plain data such as a dict")


def _step(key: str) -> str:
    return f".{key}" if key.isidentifier() else f"[{key!r}]"


def _number_item(value: float) -> Any:
    if math.isfinite(value):
        return value if value or math.copysign(1.0, value) > 0 else ["n", "-0"]
    return ["n", "NaN" if value != value else "Infinity" if value > 0 else "-Infinity"]


def error_identity(error: BaseException) -> tuple[str, str]:
    """The name and message of an exception: all that the guest may see of it."""
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
    return ["e", *error_identity(error), None, *_code(error)]


def _code(error: BaseException) -> list[str]:
    """What many libraries call the kind of a failure: `error.code`, such as "ENOENT"."""
    try:
        code = getattr(error, "code", None)
    except Exception:  # a property may raise whatever it likes
        return []
    return [code[:_LONGEST_CODE]] if type(code) is str else []
