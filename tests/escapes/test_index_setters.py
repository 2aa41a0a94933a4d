"""Setters for indices on the prototypes of arrays catch whatever is built by plain assignment."""

from __future__ import annotations

from typing import Any

import pytest

from tests.escapes.attack import attack

TARGETS = {
    "array_prototype": "Array.prototype",
    "object_prototype": "Object.prototype",
    "proxy_above_arrays": "above",
}

SOURCE = """
const caught = [];
let watching = false;
const note = (self, value) => { if (watching) { watching = false; caught[caught.length] = [typeof self, typeof value]; watching = true } };
const above = {};
if (TARGET === above) {
  Object.setPrototypeOf(Array.prototype, new Proxy(Object.prototype, {
    set(target, key, value, receiver) { note(receiver, value); return Reflect.defineProperty(receiver, key,
      { value, writable: true, enumerable: true, configurable: true }) },
    has: () => false,
  }));
} else {
  for (let i = 0; i < 40; i++) {
    Object.defineProperty(TARGET, i, { set(value) { note(this, value) }, get() { return undefined },
      configurable: true });
  }
}
const bytes = new Uint8Array([1]), point = new (class Point { x = 1 })();
watching = true;
report({ a: [1, [2, [3]]], m: new Map([[1, bytes]]) });
console.log('l', [bytes], point, () => 1);
const given = sync({ deep: [[[[1]]]] }, bytes, new Set([1]), 5n);
const later = await wait([1, bytes]);
watching = false;
export default { caught: caught.length, given, later };
"""


async def wait(value: Any) -> Any:
    return [value, b"w"]


@pytest.mark.parametrize("target", TARGETS)
def test_the_realms_own_lists_reach_no_setter(target: str) -> None:
    calls: list[Any] = []
    result = attack(
        SOURCE.replace("TARGET", TARGETS[target]),
        globals={
            "sync": lambda *args: calls.append(args) or [{"b": [b"x", [2**70]]}],
            "wait": wait,
        },
        report=lambda value: None,
    )
    assert result.status == "success", result.error
    assert result.result == {
        "caught": 0, "given": [{"b": [b"x", [2**70]]}], "later": [[1, b"\1"], b"w"],
    }  # fmt: skip
    assert calls == [({"deep": [[[[1]]]]}, b"\1", {1}, 5)]
    assert [list(r["m"].items()) for r in result.reports] == [[(1, b"\1")]]
    assert result.logs[0].args[:2] == ("l", [b"\1"])
