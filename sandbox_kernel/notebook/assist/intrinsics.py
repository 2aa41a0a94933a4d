"""The intrinsics of every realm and their members, listed by a realm itself, for completion."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from itertools import islice
from typing import Any

from ...run import run_code
from ...values import MAX_SAFE_INTEGER, BigInt, JSMap, JSSet

_QUESTION = """
const members = (object) => object === null || object === undefined ? [] :
  Object.getOwnPropertyNames(object).filter((name) => /^[A-Za-z_$][\\w$]*$/.test(name));
const kind = (object, name) => {
  const property = Object.getOwnPropertyDescriptor(object, name);
  return property && typeof property.value === 'function' ? property.value.length : -1;
};
const described = (object) => members(object).map((name) => [name, kind(object, name)]);
const above = (object) => object === null || object === undefined || object === Object.prototype ? [] :
  [...described(object), ...above(Object.getPrototypeOf(object))];
export default members(globalThis).map((name) => {
  const value = globalThis[name];
  const own = typeof value === 'function' || typeof value === 'object' ? described(value) : [];
  const prototype = value === Object ? described(value.prototype) :
    typeof value === 'function' ? above(value.prototype) : [];
  return [name, typeof value === 'function' ? value.length : -1, own, prototype];
});
"""

Members = dict[str, int | None]
"""Names, with the number of parameters for functions."""


@dataclass(frozen=True, slots=True)
class Intrinsic:
    """One name of the global object."""

    name: str
    arity: int | None
    own: Members
    prototype: Members


class Intrinsics:
    """Asked for once, the first time they are needed."""

    def __init__(self) -> None:
        self._known: dict[str, Intrinsic] | None = None

    async def all(self) -> dict[str, Intrinsic]:
        if self._known is None:
            result = await run_code(_QUESTION, filename="intrinsics.ts")
            self._known = {row[0]: _intrinsic(row) for row in result.result or []}
        return self._known


def _intrinsic(row: Any) -> Intrinsic:
    name, arity, own, prototype = row
    return Intrinsic(name, _arity(arity), _members(own), _members(prototype))


def _members(pairs: Any) -> Members:
    """The nearest of each name, as the prototype chain has it."""
    return {name: _arity(arity) for name, arity in reversed(pairs) if name != "constructor"}


def _arity(arity: int) -> int | None:
    return arity if arity >= 0 else None


def class_of(value: Any) -> str:
    """The intrinsic whose prototype a host value has once it has crossed; empty if none is known."""
    match value:
        case bool():
            return "Boolean"
        case BigInt():
            return "BigInt"
        case int():
            return "Number" if -MAX_SAFE_INTEGER <= value <= MAX_SAFE_INTEGER else "BigInt"
        case float():
            return "Number"
        case str():
            return "String"
        case list() | tuple():
            return "Array"
        case JSMap():
            return "Map"
        case set() | frozenset() | JSSet():
            return "Set"
        case dict():
            return "Object" if all(isinstance(key, str) for key in islice(value, 100)) else "Map"
        case datetime():
            return "Date"
        case bytes() | bytearray():
            return "Uint8Array"
        case _:
            return "Function" if callable(value) else ""
