"""vm2's and Node vm's oldest way out: from any object of the host to its Function, and from there to
its globals. Here whatever crosses is a copy made by the realm, and no Function compiles.
"""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from sandbox_kernel import JSMap
from tests.escapes.attack import outcome


def function() -> str:
    return "host"


async def later() -> dict[str, int]:
    return {"a": 1}


def raising() -> None:
    raise LookupError("of the host")


GIVEN: dict[str, Any] = {
    "object": {"a": {"b": [1]}},
    "list": [1, [2]],
    "map": JSMap([("k", {"v": 1})]),
    "set_": {1},
    "date": datetime(2020, 1, 1, tzinfo=UTC),
    "bytes_": b"abc",
    "big": 2**80,
    "error": ValueError("x"),
    "function_": function,
    "later": later,
    "raising": raising,
}

STARTS = [
    "globalThis", "object", "object.a.b", "list", "map", "map.get('k')", "set_", "date", "bytes_",
    "bytes_.buffer", "big", "error", "function_", "later", "await later()", "later()", "console",
    "console.log", "report", "import.meta", "await import('lent')", "(await import('lent')).f",
    "function_()", "caught(raising)", "caught(() => later(Symbol()))", "structuredClone",
    "structuredClone({})", "queueMicrotask", "(() => { try { null.x } catch (e) { return e } })()",
    "(function () { return arguments })()", "(function* () {})()", "(async () => {})()", "/x/",
]  # fmt: skip

SEARCH = """
const caught = (f) => { try { f() } catch (e) { return e } };
const start = START;
const found = [];
for (let at = start, depth = 0; at !== null && at !== undefined && depth < 10; depth++) {
  for (let up = at.constructor, times = 0; up && times < 4; up = up.constructor, times++) {
    try { found.push(typeof up('return this')()) } catch (error) { }
    try { found.push(typeof new up('return this')()) } catch (error) { }
    try { found.push(typeof up.call(null, 'return process')()) } catch (error) { }
    try { found.push(typeof Reflect.construct(up, ['return 1'])()) } catch (error) { }
  }
  at = Object.getPrototypeOf(Object(at));
}
export default [found, start?.constructor?.constructor === Function || start === undefined];
"""


@pytest.mark.parametrize("start", STARTS)
def test_no_constructor_leads_out(start: str) -> None:
    found = outcome(
        SEARCH.replace("START", start),
        globals=GIVEN,
        imports={"lent": {"f": function}},
        report=lambda value: None,
    )
    without = ("import.meta", "await import('lent')", "(function* () {})()")  # no such constructor
    assert found == [[], start not in without]


LOOK_AT = """
let constructed;
try { new BRIDGE(); constructed = 'constructed' } catch (error) { constructed = error.name }
export default [Reflect.ownKeys(BRIDGE), constructed,
  Object.getPrototypeOf(BRIDGE) === Function.prototype,
  Function.prototype.toString.call(BRIDGE).replace(/\\s+/g, ' ')];
"""


@pytest.mark.parametrize(
    ("bridge", "name"), [("function_", "function"), ("later", "later"), ("console.log", "log")]
)
def test_a_bridge_is_a_plain_function_of_the_realm(bridge: str, name: str) -> None:
    """No host object behind it, nothing to construct, no prototype of its own, no source."""
    seen = outcome(LOOK_AT.replace("BRIDGE", bridge), globals=GIVEN)
    source = f"function {name}() {{ [native code] }}"
    assert seen == [["length", "name"], "TypeError", True, source]


def test_report_is_a_plain_function_of_the_realm() -> None:
    """It can be constructed, which makes an empty object of the guest's own."""
    seen = outcome(LOOK_AT.replace("BRIDGE", "report"), report=lambda value: None)
    source = "function report() { [native code] }"
    assert seen == [["length", "name", "prototype"], "constructed", True, source]
    made = outcome(
        "export default Object.getPrototypeOf(new report()) === report.prototype"
        " && Reflect.ownKeys(new report()).length === 0",
        report=lambda value: None,
    )
    assert made is True
