"""A guest may catch the engine's out-of-memory error and go on; the heap was full all the same."""

from __future__ import annotations

from typing import Any

import pytest

from tests.escapes.attack import attack, outcome

LIMIT = 16 * 2**20

FILLING = {
    "arrays": "const a = []; for (;;) a.push(new Array(1000).fill(1))",
    "objects": "const a = []; for (let i = 0;; i++) a.push({ i, s: 'x' + i })",
    "strings": "const a = []; for (let i = 0;; i++) a.push('x'.repeat(10000) + i)",
    "buffers": "const a = []; for (;;) a.push(new Uint8Array(100000).fill(1))",
    "closures": "const a = []; for (;;) a.push(() => a)",
    "maps": "const m = new Map(); for (let i = 0;; i++) m.set({}, i)",
    "symbols": "const a = []; for (let i = 0;; i++) a.push(Symbol('s' + i))",
    "bigints": "const a = []; for (let i = 0n;; i++) a.push((1n << 100000n) + i)",
    "regexps": "const a = []; for (let i = 0;; i++) a.push(new RegExp('a' + i))",
    "errors": "const a = []; for (;;) a.push(new Error('x'.repeat(1000)))",
    "promises": "const a = []; for (;;) a.push(new Promise(() => {}).then(() => a))",
    "properties": "const o = {}; for (let i = 0;; i++) o['k' + i] = i",
    "generators": "const a = []; for (;;) { const g = (function* () { yield a })(); g.next(); a.push(g) }",
    "weak_refs": "const a = [], k = []; for (;;) { const o = {}; k.push(o); a.push(new WeakRef(o)) }",
    "json": "let s = '[1]'; for (;;) s = JSON.stringify([s, s])",
    "clones": "let o = { a: 'x'.repeat(1000) }; const all = []; for (;;) all.push(structuredClone(o))",
    "microtasks": "const grow = () => { queueMicrotask(grow); queueMicrotask(grow) }; grow(); await new Promise(() => {})",
}  # fmt: skip


@pytest.mark.parametrize("kind", FILLING)
def test_filling_the_heap_ends_as_memory(kind: str) -> None:
    result = attack(
        f"report('before'); {FILLING[kind]}", memory_limit_bytes=LIMIT, report=lambda v: None
    )
    assert result.status == "memory", (result.status, result.error)
    assert result.error is not None
    assert result.error.name == "MemoryLimitExceeded"
    assert result.reports == ["before"]


@pytest.mark.parametrize("kind", ["arrays", "strings", "buffers", "maps"])
def test_catching_out_of_memory_does_not_help(kind: str) -> None:
    result = attack(
        f"let caught = 0; try {{ {FILLING[kind]} }} catch (error) {{ caught++ }}"
        " for (let i = 0; i < 1e6; i++); export default caught",
        memory_limit_bytes=LIMIT,
    )
    assert result.status == "memory", (result.status, result.result)


def test_nothing_reported_before_is_lost() -> None:
    """Not even what was said in the very moment before, or by the very call that had no room."""
    received: list[Any] = []
    result = attack(
        """
for (let i = 0; i < 300; i++) report(i);
const big = 'x'.repeat(4 << 20);
try { report([big, big, big, big, big, big, big, big].map((s, i) => s + i)) } catch {}
const all = []; for (;;) all.push(big + all.length);
""",
        memory_limit_bytes=LIMIT,
        report=received.append,
    )
    assert result.status == "memory", (result.status, result.error)
    assert result.reports[:300] == list(range(300))
    assert received == result.reports


ABSURD = ["RangeError"] * 5


def test_a_single_absurd_allocation_may_be_refused_and_survived() -> None:
    seen = outcome(
        """
const told = [];
for (const absurd of [() => new Uint8Array(2 ** 40), () => 'x'.repeat(2 ** 30), () => new Array(2 ** 32),
  () => new ArrayBuffer(2 ** 53), () => 'x'.padEnd(2 ** 30)]) {
  try { absurd(); told.push('none') } catch (error) { told.push(error?.name ?? 'null') }
}
export default told;
"""
    )
    assert seen == ABSURD


def test_an_error_that_says_out_of_memory_is_an_error() -> None:
    result = attack("throw new Error('out of memory')")
    assert (result.status, result.error and result.error.name) == ("error", "Error")


@pytest.mark.parametrize("limit", [1, 1000, 100_000, 1_000_000])
def test_a_limit_too_small_for_anything_ends_as_memory(limit: int) -> None:
    result = attack(
        "export default Array.from({ length: 1e6 }, (_, i) => i)", memory_limit_bytes=limit
    )
    assert result.status == "memory", (result.status, result.error)
