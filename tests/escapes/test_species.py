"""Symbol.species turns built-in methods into calls of the guest's constructors; ours must not care."""

from __future__ import annotations

import asyncio

from sandbox_kernel import ArrayBuffer
from tests.escapes.attack import outcome


async def later(value: object) -> object:
    await asyncio.sleep(0)
    return value


def test_species_of_everything_that_crosses() -> None:
    calls: list[object] = []
    seen = outcome(
        """
let used = 0;
class Evil { constructor() { used++ } }
for (const type of [Array, Map, Set, RegExp, ArrayBuffer, Object.getPrototypeOf(Int8Array)]) {
  Object.defineProperty(type, Symbol.species, { get() { used++; return Evil }, configurable: true });
}
sync([1, 2], new Map([[1, 2]]), new Set([3]), new Uint8Array([4]), new Uint8Array([5]).buffer);
const given = sync();
const promise = later([6]);
export default [used, given, await promise, used];
""",
        globals={"sync": lambda *args: calls.append(args) or [b"x", [1]], "later": later},
    )
    assert seen == [0, [b"x", [1]], [6], 0]
    first = calls[0]
    assert isinstance(first, tuple)
    assert list(first[:1]) == [[1, 2]]
    assert dict(first[1]) == {1: 2}
    assert first[2:] == ({3}, b"\4", ArrayBuffer(b"\5"))


def test_the_constructor_of_a_promise_of_ours() -> None:
    """A promise that a bridge returns is awaited through whatever constructor it is given."""
    seen = outcome(
        """
const promise = later('kept');
let calls = 0;
promise.constructor = { [Symbol.species]: function (executor) {
  calls++;
  executor((v) => {}, () => {});
  return { then() {} };
} };
const derived = promise.then((v) => v);
export default [calls, typeof derived.then, await promise];
""",
        globals={"later": later},
    )
    assert seen == [1, "function", "kept"]
