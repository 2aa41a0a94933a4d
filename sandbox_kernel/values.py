"""The Python side of JavaScript's values: what has no Python type of its own.

Knows nothing of the rest of the package but how to be brief, so that every layer may use it.
"""

from __future__ import annotations

from array import array
from collections.abc import Awaitable, Callable, Iterable, Iterator, MutableMapping, MutableSet
from typing import Any, Final, final

from .brief import Holder, Parts, brief, brief_digits, brief_name, brief_text

MAX_SAFE_INTEGER = 2**53 - 1  # beyond it JavaScript's numbers are not exact
LAST_MOMENT = 8_640_000_000_000_000  # of JavaScript's time, in milliseconds from the epoch
TYPED_ARRAYS = {  # by the code that `array.array` and the buffer protocol have for their items
    "b": "Int8Array",
    "B": "Uint8Array",
    "h": "Int16Array",
    "H": "Uint16Array",
    "i": "Int32Array",
    "I": "Uint32Array",
    "l": "BigInt64Array" if array("l").itemsize == 8 else "Int32Array",
    "L": "BigUint64Array" if array("L").itemsize == 8 else "Uint32Array",
    "q": "BigInt64Array",
    "Q": "BigUint64Array",
    "f": "Float32Array",
    "d": "Float64Array",
}


@final
class Undefined:
    """JavaScript's `undefined`, which is not `None` (that is `null`)."""

    _only: Undefined | None = None

    def __new__(cls) -> Undefined:
        if cls._only is None:
            cls._only = super().__new__(cls)
        return cls._only

    def __repr__(self) -> str:
        return "undefined"

    def __bool__(self) -> bool:
        return False

    def __reduce__(self) -> str:
        return "undefined"


undefined: Final = Undefined()


class BigInt(int):
    """An int that crosses as a JavaScript bigint even when it is small."""

    __slots__ = ()

    def __repr__(self) -> str:
        return f"BigInt({brief_digits(self)})"


class ArrayBuffer(bytes):
    """Bytes that cross as an ArrayBuffer; plain `bytes` cross as a Uint8Array."""

    __slots__ = ()

    def __repr__(self) -> str:
        return f"ArrayBuffer({brief_text(bytes(self))})"


def _same_value_zero(value: object) -> object:
    """A dict key that tells apart what JavaScript tells apart (1 and True, "1" and 1)."""
    if isinstance(value, str):
        return value
    if isinstance(value, bool | bytes | type(None)):
        return (type(value).__name__, value)
    if isinstance(value, BigInt):
        return ("bigint", format(value, "x"))  # text, because anyone can make ints collide
    if isinstance(value, int | float):
        return ("number", "nan" if value != value else value)
    return ("object", id(value))


def _missing(key: Any) -> KeyError:
    """Its text is the key's `repr`, which need not end if the key is a guest's structure."""
    return KeyError(key if isinstance(key, str | int | float | None) else brief(key))


class JSMap(Holder, MutableMapping[Any, Any]):
    """A JavaScript Map: any key, insertion order, keys compared as JavaScript does."""

    __slots__ = ("_entries",)

    def __init__(self, entries: Iterable[tuple[Any, Any]] = ()) -> None:
        self._entries: dict[object, tuple[Any, Any]] = {}
        for key, value in entries:
            self[key] = value

    def __getitem__(self, key: Any) -> Any:
        try:
            return self._entries[_same_value_zero(key)][1]
        except KeyError:
            raise _missing(key) from None

    def __setitem__(self, key: Any, value: Any) -> None:
        self._entries[_same_value_zero(key)] = (key, value)

    def __delitem__(self, key: Any) -> None:
        try:
            del self._entries[_same_value_zero(key)]
        except KeyError:
            raise _missing(key) from None

    def __iter__(self) -> Iterator[Any]:
        return (key for key, _ in self._entries.values())

    def __len__(self) -> int:
        return len(self._entries)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, JSMap):
            return NotImplemented
        return list(self._entries.values()) == list(other._entries.values())

    __hash__ = None  # type: ignore[assignment]  # mutable, like dict

    def brief_parts(self) -> Parts:
        return Parts("JSMap([", self._entries.values(), len(self), "])")


class JSSet(Holder, MutableSet[Any]):
    """A JavaScript Set that a Python set cannot hold: unhashable members, or both 1 and True."""

    __slots__ = ("_members",)

    def __init__(self, members: Iterable[Any] = ()) -> None:
        self._members: dict[object, Any] = {}
        self.update(members)

    def add(self, value: Any) -> None:
        self._members.setdefault(_same_value_zero(value), value)

    def update(self, members: Iterable[Any]) -> None:
        for member in members:
            self.add(member)

    def remove(self, value: Any) -> None:
        if value not in self:
            raise _missing(value)
        self.discard(value)

    def discard(self, value: Any) -> None:
        self._members.pop(_same_value_zero(value), None)

    def __contains__(self, value: object) -> bool:
        return _same_value_zero(value) in self._members

    def __iter__(self) -> Iterator[Any]:
        return iter(self._members.values())

    def __len__(self) -> int:
        return len(self._members)

    def __eq__(self, other: object) -> bool:
        if isinstance(other, JSSet):
            return list(self) == list(other)
        if isinstance(other, set | frozenset):
            return len(self) == len(other) and all(member in self for member in other)
        return NotImplemented

    __hash__ = None  # type: ignore[assignment]  # mutable, like set

    def brief_parts(self) -> Parts:
        return Parts("JSSet([", self, len(self), "])")


class GuestError(Exception):
    """A JavaScript Error that crossed as a value; `stack` names guest frames only."""

    def __init__(self, name: str, message: str, stack: str | None = None) -> None:
        super().__init__(message)
        self.name = name
        self.message = message
        self.stack = stack

    def __str__(self) -> str:
        return f"{self.name}: {self.message}" if self.message else self.name

    def __repr__(self) -> str:
        return f"GuestError({brief_text(self.name)}, {brief_text(self.message)})"


class GuestFunction:
    """A guest function lent to the host: calling it returns an awaitable, while the run lives."""

    __slots__ = ("__weakref__", "_call", "name")

    def __init__(self, name: str, call: Callable[[tuple[Any, ...]], Awaitable[Any]]) -> None:
        self.name = name
        self._call = call

    def __call__(self, *args: Any) -> Awaitable[Any]:
        return self._call(args)

    def __repr__(self) -> str:
        return f"<guest function {brief_name(self.name) or 'anonymous'}>"


class Opaque:
    """Something of the guest that cannot cross, as a description to show.

    Only logs, and results asked for display, hold these; everywhere else such a
    value is a `SerializationError`.
    """

    __slots__ = ("class_name", "fields", "text")

    def __init__(self, class_name: str, text: str, fields: dict[str, Any] | None = None) -> None:
        self.class_name = class_name
        self.text = text
        self.fields = fields

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Opaque):
            return NotImplemented
        return (self.class_name, self.text, self.fields) == (
            other.class_name,
            other.text,
            other.fields,
        )

    __hash__ = None  # type: ignore[assignment]  # holds a dict

    def __repr__(self) -> str:
        return f"<guest {brief_name(self.text)}>"
