"""Work without end, much of it inside one builtin where no interrupt is polled: a kill stops it."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator
from typing import Any

import pytest

from sandbox_kernel import Engine, run_code
from sandbox_kernel.options import Language
from tests.escapes.attack import outcome
from tests.processes import gone, processor_seconds
from tests.waiting import until

# Each calls started(), and nothing that comes after it ever ends.
BOMBS = {
    "loop": "started(); for (;;);",
    "promise_loop": "const again = () => { Promise.resolve().then(again) }; started(); again(); await new Promise(() => {})",
    "microtask_loop": "const again = () => queueMicrotask(again); started(); again(); await new Promise(() => {})",
    "async_generator_loop": "started(); for await (const _ of (async function* () { for (;;) yield 1 })());",
    "promise_executor": "started(); await new Promise(() => { for (;;); })",
    "catch_everything": "started(); for (;;) try { for (;;); } catch {} finally { continue }",
    "deep_recursion_again_and_again": "const f = () => f(); started(); for (;;) try { f() } catch {}",
    "regex_backtracking": "started(); /^(a+)+$/.test('a'.repeat(100) + 'b')",
    "regex_lookbehind": "started(); /(?<=^(a+)+)b/.test('c' + 'a'.repeat(60) + 'b')",
    "regex_named_backreference": r"started(); /^(?<x>a*)*\k<x>$/.test('a'.repeat(60) + 'b')",
    "bigint_power": "started(); for (;;) 7n ** 300000n",
    "bigint_to_text": "const n = (1n << 1000000n) - 1n; started(); for (;;) String(n)",
    "bigint_shift": "const n = 7n ** 300000n; started(); for (;;) (n << 100000n) >> 99999n",
    "sort_that_never_agrees": "started(); for (;;) Array.from({ length: 1e5 }, Math.random).sort(() => Math.random() - .5)",
    "index_of_in_a_huge_array_like": "started(); Array.prototype.indexOf.call({ length: 2 ** 53 - 1 }, 1)",
    "includes_in_a_huge_array_like": "started(); Array.prototype.includes.call({ length: 2 ** 53 - 1 }, 1)",
    "reverse_of_a_huge_array_like": "started(); Array.prototype.reverse.call({ length: 2 ** 53 - 1 })",
    "join_of_a_huge_array_like": "started(); Array.prototype.join.call({ length: 2 ** 53 - 1 }, '')",
    "fill_of_a_huge_array_like": "started(); Array.prototype.fill.call(new Proxy({ length: 2 ** 53 - 1 }, { set: () => true }), 0)",
    "copy_within": "const a = new Uint8Array(2 ** 22); started(); for (;;) a.copyWithin(1, 0)",
    "string_search": "const s = 'a'.repeat(2 ** 22), t = 'a'.repeat(2 ** 21) + 'b'; started(); for (;;) s.indexOf(t)",
    "normalize": r"const s = '\u0344'.repeat(2 ** 20); started(); for (;;) s.normalize('NFD')",
    "json_parse": "const s = '[' + '1,'.repeat(2 ** 20) + '1]'; started(); for (;;) JSON.parse(s)",
    "proxy_chain": "let p = {}; for (let i = 0; i < 1e5; i++) p = new Proxy(p, {}); started(); for (;;) try { p.x } catch {}",
    "getter_in_a_report": "report({ get x() { started(); for (;;); } })",
    "getter_in_an_argument": "started({ get x() { started(); for (;;); } })",
    "proxy_in_a_log": "console.log(new Proxy({}, { ownKeys() { started(); for (;;); } }))",
    "then_in_a_result": "export default { then() { started(); for (;;); } }",
    "message_of_an_error": "throw { get message() { started(); for (;;); } }",
    "stack_of_an_error": "throw { get stack() { started(); for (;;); } }",
}


@pytest.fixture(scope="module")
def engine() -> Iterator[Engine]:
    with Engine(spares=2, concurrency=4) as made:
        yield made


@pytest.mark.parametrize("bomb", BOMBS)
def test_a_bomb_computes_until_it_is_terminated(bomb: str, engine: Engine) -> None:
    started = threading.Event()
    run = run_code(
        BOMBS[bomb],
        engine=engine,
        language="javascript",
        report=lambda value: None,
        globals={"started": lambda *args: started.set()},
    )
    assert started.wait(20)
    (worker,) = engine.processes().workers
    before = processor_seconds(worker)
    assert until(lambda: not run.running or processor_seconds(worker) >= before + 0.02)
    assert run.running
    run.terminate("enough")
    result = run.wait(20)
    assert (result.status, result.error and result.error.message) == ("terminated", "enough")
    assert until(lambda: gone(worker))


def test_bombs_in_every_place_are_terminated_and_the_next_run_works(engine: Engine) -> None:
    """On one loop, which is free all the while."""

    async def all_of_them() -> list[Any]:
        started: asyncio.Queue[None] = asyncio.Queue()
        bridges = {"started": lambda: started.put_nowait(None)}
        sources = list(BOMBS.values())[: engine.concurrency]
        runs = [run_code(source, engine=engine, globals=bridges) for source in sources]
        for _ in runs:
            await started.get()
        assert (engine.executing, engine.queued) == (engine.concurrency, 0)
        for run in runs:
            run.terminate("enough")
        return await asyncio.gather(*runs)

    ends = [(result.status, result.error.message) for result in asyncio.run(all_of_them())]
    assert ends == [("terminated", "enough")] * engine.concurrency
    assert outcome("export default 'next'", engine=engine) == "next"


OPENINGS = ["(", "[", "{", "`${", "!", "-", "()=>", "a=>", "x?1:", "if(1)", "<", "/*", "class{[",
            "function f(){", "'", "${", "new ", "async()=>{", "import(", "a?.[", "...", "@("]  # fmt: skip


@pytest.mark.parametrize(("language", "depth"), [("javascript", 100_000), ("typescript", 300)])
def test_deeply_nested_source_is_an_error_not_a_crash(language: Language, depth: int) -> None:
    async def all_of_them() -> list[Any]:
        return await asyncio.gather(*(run_code(o * depth, language=language) for o in OPENINGS))

    results = asyncio.run(all_of_them())
    ends = {o: (r.status, r.error.name) for o, r in zip(OPENINGS, results, strict=True)}
    refused = {("link_error", "SyntaxError"), ("link_error", "RangeError")}
    assert {o: end for o, end in ends.items() if end not in refused} == {}
