"""Work without end inside one builtin, where no interrupt is polled: only a kill stops it, and does."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from sandbox_kernel import run_code
from tests.escapes.attack import outcome

BOMBS = {
    "loop": "for (;;);",
    "promise_loop": "const again = () => Promise.resolve().then(again); await again()",
    "microtask_loop": "const again = () => queueMicrotask(again); again(); await new Promise(() => {})",
    "async_generator_loop": "for await (const _ of (async function* () { for (;;) yield 1 })());",
    "regex_backtracking": "/^(a+)+$/.test('a'.repeat(100) + 'b')",
    "regex_lookbehind": "for (;;) /(?<=(a+)+)b$/.test('a'.repeat(60) + 'c')",
    "regex_named_backreference": "for (;;) /^(?<x>a*)*\\\\k<x>$/.test('a'.repeat(60) + 'b')",
    "bigint_power": "for (;;) (7n ** 50000000n) % 3n",
    "bigint_to_text": "for (;;) String(7n ** 5000000n)",
    "bigint_shift": "for (let n = 1n;;) n = (n << 1000000n) >> 999999n",
    "sort_that_never_agrees": "for (;;) Array.from({ length: 1e5 }, Math.random).sort(() => Math.random() - .5)",
    "index_of_in_a_huge_array_like": "Array.prototype.indexOf.call({ length: 2 ** 53 - 1 }, 1)",
    "includes_in_a_huge_array_like": "Array.prototype.includes.call({ length: 2 ** 53 - 1 }, 1)",
    "join_of_a_huge_array_like": "Array.prototype.reverse.call({ length: 2 ** 53 - 1 })",
    "fill_of_a_huge_array_like": "Array.prototype.fill.call(new Proxy({ length: 2 ** 53 - 1 }, {}), 0)",
    "copy_within": "for (const a = new Uint8Array(2 ** 22);;) a.copyWithin(1, 0)",
    "string_search": "const s = 'a'.repeat(2 ** 22); for (;;) s.indexOf('a'.repeat(2 ** 21) + 'b')",
    "normalize": "const s = '\\u0344'.repeat(2 ** 20); for (;;) s.normalize('NFD')",
    "json_parse": "const s = '[' + '1,'.repeat(2 ** 20) + '1]'; for (;;) JSON.parse(s)",
    "proxy_chain": "let p = {}; for (let i = 0; i < 1e5; i++) p = new Proxy(p, {}); for (;;) try { p.x } catch {}",
    "getter_in_a_report": "report({ get x() { for (;;); } })",
    "then_in_a_result": "export default { then() { for (;;); } }",
    "to_string_of_an_error": "throw { get message() { for (;;); } }",
    "error_stack_getter": "throw { get stack() { for (;;); } }",
    "proxy_in_a_log": "console.log(new Proxy({}, { ownKeys() { for (;;); } }))",
    "catch_everything": "for (;;) try { for (;;); } catch {} finally { continue }",
    "many_timers_of_nothing": "await new Promise(() => { for (;;); })",
    "deep_recursion_again_and_again": "const f = () => f(); for (;;) try { f() } catch {}",
}


async def stop(source: str) -> Any:
    run = run_code(source, language="javascript", report=lambda value: None)
    await asyncio.sleep(0.05)
    run.terminate("enough")
    return await run


def test_every_bomb_stops_when_told() -> None:
    """All at once, each in its worker; the host's loop is free all the while."""

    async def all_of_them() -> list[Any]:
        return await asyncio.gather(*(stop(source) for source in BOMBS.values()))

    results = dict(zip(BOMBS, asyncio.run(all_of_them()), strict=True))
    ended = {name: (r.status, r.error and r.error.message) for name, r in results.items()}
    assert {name: end for name, end in ended.items() if end != ("terminated", "enough")} == {}
    assert outcome("export default 'next'") == "next"


OPENINGS = ["(", "[", "{", "`${", "!", "-", "()=>", "a=>", "x?1:", "if(1)", "<", "/*", "class{[",
            "function f(){", "'", "${", "new ", "async()=>{", "import(", "a?.[", "...", "@("]  # fmt: skip


@pytest.mark.parametrize(("language", "depth"), [("javascript", 100_000), ("typescript", 300)])
def test_source_nested_deep_is_an_error_and_no_crash(language: str, depth: int) -> None:
    async def all_of_them() -> list[Any]:
        return await asyncio.gather(*(run_code(o * depth, language=language) for o in OPENINGS))

    results = asyncio.run(all_of_them())
    ends = {o: (r.status, r.error.name) for o, r in zip(OPENINGS, results, strict=True)}
    refused = {("link_error", "SyntaxError"), ("link_error", "RangeError")}
    assert {o: end for o, end in ends.items() if end not in refused} == {}
