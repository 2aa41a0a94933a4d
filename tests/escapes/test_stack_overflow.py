"""The stack runs out where it hurts most: inside bridges, getters, proxies, and callbacks of the host."""

from __future__ import annotations

from typing import Any

import pytest

from tests.escapes.attack import attack, failure, outcome

DEEP = {
    "recursion": "const f = () => f() + 1; f()",
    "mutual_recursion": "const f = () => g(), g = () => f(); f()",
    "getter": "const o = { get x() { return this.x } }; o.x",
    "proxy": "const p = new Proxy({}, { get: (t, k, r) => r[k] }); p.x",
    "to_string": "const o = { toString() { return '' + this } }; '' + o",
    "to_json": "const o = { toJSON() { return JSON.stringify(o) } }; JSON.stringify(o)",
    "constructor": "class A { constructor() { new A() } } new A()",
    "apply": "const f = (...a) => f.apply(null, a); f(1)",
    "sort": "const f = () => [2, 1].sort(f); f()",
    "replace": "const f = () => 'a'.replace(/a/, f); f()",
    "regexp": "new RegExp('(?:'.repeat(1e5) + ')'.repeat(1e5)).test('')",
    "json_parse": "JSON.parse('['.repeat(1e6))",
    "nested_arrays_joined": "let a = []; for (let i = 0; i < 1e5; i++) a = [a]; String(a)",
    "nested_arrays_flattened": "let a = []; for (let i = 0; i < 1e5; i++) a = [a]; a.flat(Infinity)",
    "spread": "Math.max(...new Array(2e6))",
    "report_in_a_getter": "const o = { get x() { report(o); return 1 } }; report(o)",
    "log_in_a_getter": "const o = { get x() { console.log(o); return 1 } }; console.log(o)",
    "bridge_in_a_getter": "const o = { get x() { return bridge(o) } }; bridge(o)",
    "clone_in_a_getter": "const o = { get x() { return structuredClone(o) } }; structuredClone(o)",
}


OTHERWISE = {"regexp": "SyntaxError", "log_in_a_getter": "none"}  # a log never throws


@pytest.mark.parametrize("kind", DEEP)
def test_an_overflow_is_an_error_that_can_be_caught(kind: str) -> None:
    result = attack(
        f"let told = 'none'; try {{ {DEEP[kind]} }} catch (error) {{ told = error.name }}"
        " report('after'); export default [told, bridge('ok')]",
        globals={"bridge": lambda value: "heard" if value == "ok" else 1},
        report=lambda value: None,
    )
    assert result.status == "success", (kind, result.error)
    assert result.result == [OTHERWISE.get(kind, "RangeError"), "heard"]
    assert result.reports[-1] == "after"


def test_calls_at_every_depth_of_the_stack() -> None:
    """At some depth the stack ends in the middle of our own code; nothing of it may be half done."""
    calls: list[Any] = []
    result = attack(
        """
let deepest = 0, failed = 0;
const dive = (n) => {
  deepest = Math.max(deepest, n);
  try { dive(n + 1) } catch {}
  try { if (bridge(n, [n, new Uint8Array([1])]) !== n) throw 'garbled' } catch (e) { if (e === 'garbled') throw e; failed++ }
  try { report({ n }) } catch { failed++ }
  try { console.log(n, bridge) } catch { failed++ }
};
try { dive(0) } catch (error) { failed = String(error) }
export default [deepest > 100, failed > 0, bridge('end', [])];
""",
        globals={"bridge": lambda n, rest: calls.append(n) or n},
        report=lambda value: None,
    )
    assert result.status == "success", result.error
    assert result.result == [True, True, "end"]
    depths = [n for n in calls if n != "end"]
    assert depths == sorted(depths, reverse=True)
    assert depths[-1] == 0
    assert [r["n"] for r in result.reports] == sorted(
        (r["n"] for r in result.reports), reverse=True
    )


PING_PONG = """
let depth = 0;
const down = () => (++depth < DEPTH ? bridge(down) : 'bottom');
export default [await bridge(down), depth];
"""


def test_host_and_guest_calling_each_other() -> None:
    """Each call waits inside the one before, and their answers come outermost first."""
    bridges = {"bridge": lambda function: function()}
    assert outcome(PING_PONG.replace("DEPTH", "30"), globals=bridges) == ["bottom", 30]
    told = failure(PING_PONG.replace("DEPTH", "1e9"), globals=bridges)
    assert told == ("error", "RangeError", "Maximum call stack size exceeded")
