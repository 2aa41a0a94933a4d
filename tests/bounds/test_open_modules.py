"""What a module that stays open may cost its host, and what its guest cannot do to it."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from typing import Any

import pytest

from sandbox_kernel import (
    Engine,
    GuestError,
    GuestFunction,
    OpenCode,
    RunEndedError,
    SerializationError,
    evaluate,
    open_code,
    run_code,
)
from tests.waiting import eventually

MEBIBYTE = 2**20


@pytest.fixture(scope="module")
def engine() -> Iterator[Engine]:
    with Engine(spares=1, concurrency=2, output_bytes=4 * MEBIBYTE) as made:
        yield made


def opened(engine: Engine, source: str, **options: Any) -> OpenCode:
    options.setdefault("language", "javascript")
    return open_code(source, engine=engine, **options)


async def repeat(export: Any, *args: Any) -> None:
    """Far more often than a test needs, if nothing ends it."""
    for _ in range(1_000_000):
        await export(*args)


NEVER_ANSWERS = {
    "a loop": "for (;;);",
    "a promise that never settles": "return new Promise(() => {});",
    "endless microtasks": "const again = () => { Promise.resolve().then(again); }; again(); return new Promise(() => {});",
    "a thenable that calls nobody": "return { then() {} };",
    "a getter that loops, in what it returns": "return { get a() { for (;;); } };",
    "a getter that loops, in what it throws": "throw { get message() { for (;;); } };",
    "a proxy that loops, in what it returns": "return new Proxy({}, { ownKeys() { for (;;); } });",
}


@pytest.mark.parametrize("name", NEVER_ANSWERS)
async def test_a_call_that_is_never_answered_ends_with_its_caller(
    engine: Engine, name: str
) -> None:
    async with opened(engine, f"export function go() {{ {NEVER_ANSWERS[name]} }}") as module:
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(module.go(), 0.1)
        with pytest.raises(RunEndedError, match="cancelled"):
            await module.go()
    assert await eventually(lambda: engine.executing == 0)
    assert (await run_code("export default 1", engine=engine)).result == 1


async def test_a_budget_holds_for_the_module_as_a_whole(engine: Engine) -> None:
    handle = opened(engine, "export const go = () => 1").terminate_after(1)
    async with handle as module:
        with pytest.raises(RunEndedError, match="1s budget"):
            await repeat(module.go)


FLOODS = {
    "reports": "for (;;) report('x'.repeat(10000));",
    "logs": "for (;;) console.log('x'.repeat(10000));",
    "one answer": "return 'x'.repeat(20 * 2 ** 20);",
    "nested answer": "return Array.from({ length: 1e5 }, () => []);",
}


@pytest.mark.parametrize("name", FLOODS)
async def test_a_flood_ends_the_module(engine: Engine, name: str) -> None:
    source = f"export function go() {{ {FLOODS[name]} }}"
    async with opened(engine, source, report=lambda value: None) as module:
        with pytest.raises(RunEndedError, match="safety cap: more than 4 MiB of output"):
            await module.go()


async def test_reports_count_for_the_whole_life_of_the_module(engine: Engine) -> None:
    source = "export function go() { report('x'.repeat(100000)); }"
    async with opened(engine, source, report=lambda value: None) as module:
        with pytest.raises(RunEndedError, match="safety cap"):
            await repeat(module.go)


async def test_answers_that_were_taken_do_not_add_up(engine: Engine) -> None:
    """Ten times what the host would hold at once."""
    source = (
        "export const go = (n) => 'x'.repeat(n); export const bytes = (n) => new Uint8Array(n);"
    )
    async with opened(engine, source) as module:
        for _ in range(20):
            assert len(await module.go(MEBIBYTE)) == MEBIBYTE
            assert len(await module.bytes(MEBIBYTE)) == MEBIBYTE


async def test_memory_that_calls_pile_up_ends_the_module(engine: Engine) -> None:
    source = "const kept = []; export function go() { kept.push('x'.repeat(1e5) + kept.length); }"
    async with opened(engine, source, memory_limit_bytes=8 * MEBIBYTE) as module:
        with pytest.raises(RunEndedError, match="MemoryLimitExceeded: the heap exceeded its limit"):
            await repeat(module.go)


@pytest.mark.parametrize(
    "filling",
    [
        "const all = []; for (;;) all.push(new Array(1000).fill(1))",
        "return new Array(1e7).fill(0)",
        "const all = []; for (;;) all.push(new Uint8Array(100_000))",
        "const all = []; for (;;) all.push({ n: all.length })",
    ],
)
@pytest.mark.parametrize("kind", ["function", "async function"])
async def test_a_call_beyond_the_heap_ends_the_module(
    engine: Engine, kind: str, filling: str
) -> None:
    source = f"export {kind} go() {{ {filling} }}"
    async with opened(engine, source, memory_limit_bytes=8 * MEBIBYTE) as module:
        for _ in range(2):
            with pytest.raises(RunEndedError, match="MemoryLimitExceeded"):
                await module.go()


async def test_a_guest_that_throws_null_has_not_run_out_of_memory(engine: Engine) -> None:
    async with opened(engine, "export const go = () => { throw null; }") as module:
        for _ in range(2):
            with pytest.raises(GuestError, match="Error: null"):
                await module.go()


async def test_a_callback_beyond_the_heap_ends_the_run_and_not_the_bridge_alone() -> None:
    async def visit(function: Any) -> None:
        with pytest.raises(RunEndedError, match="MemoryLimitExceeded"):
            await function()
        ended.append(True)

    ended: list[bool] = []
    source = "const all = []; await visit(() => { for (;;) all.push(new Array(1000).fill(1)) })"
    result = await evaluate(source, globals={"visit": visit}, memory_limit_bytes=8 * MEBIBYTE)
    assert (result.status, ended) == ("memory", [True])


async def test_arguments_beyond_the_heap_end_the_module(engine: Engine) -> None:
    source = "const kept = []; export function go(x) { kept.push(x); }"
    async with opened(engine, source, memory_limit_bytes=4 * MEBIBYTE) as module:
        with pytest.raises(RunEndedError, match="MemoryLimitExceeded"):
            await repeat(module.go, [b"x" * 100_000, "y" * 100_000])


async def test_calls_leave_nothing_behind_in_the_guest(engine: Engine) -> None:
    """Every kind of answer, often enough that a hundred bytes each would not fit."""
    source = """
        export const value = (x) => ({ x });
        export const bytes = () => new Uint8Array(100);
        export const fail = () => { throw new Error('no'); };
        export const later = async (x) => { await null; return x; };
        export const reject = async () => { throw new Error('later'); };
        export const refused = () => Symbol('s');
    """
    async with opened(engine, source, memory_limit_bytes=MEBIBYTE // 2) as module:
        for _ in range(1000):
            answers = await asyncio.gather(
                *(module.value("x" * 100), module.bytes(), module.fail(), module.later([1, 2])),
                *(module.reject(), module.refused()),
                return_exceptions=True,
            )
            kinds = [type(answer).__name__ for answer in answers]
            assert kinds[2::2] == ["GuestError", "GuestError"], answers
            assert kinds[5] == "GuestError"
            assert answers[0] == {"x": "x" * 100}


HOSTILE = {
    "undefined": "undefined",
    "a symbol": "Symbol('s')",
    "a proxy that throws": "new Proxy({}, { get() { throw 1; }, ownKeys() { throw 1; }, getPrototypeOf() { throw 1; } })",
    "a getter that throws": "{ get message() { throw 1; }, get name() { throw 1; }, get stack() { throw 1; } }",
    "a message without end": "new Error('x'.repeat(1e6))",
    "an error that claims to be ours": "Object.assign(new Error('x'), { name: 'RunEndedError' })",
    "a function": "(() => 1)",
    "a thenable": "{ then(resolve) { resolve('taken over'); } }",
}


async def test_hostile_things_that_are_thrown_are_guest_errors(engine: Engine) -> None:
    cases = ", ".join(f"() => {{ throw {thrown}; }}" for thrown in HOSTILE.values())
    source = f"const cases = [{cases}]; export const go = (n) => cases[n](); export const later = async (n) => cases[n]();"
    async with opened(engine, source) as module:
        for number in range(len(HOSTILE)):
            for export in (module.go, module.later):
                with pytest.raises(GuestError) as caught:
                    await export(number)
                assert len(str(caught.value)) < 100_000


async def test_a_replaced_then_decides_nothing(engine: Engine) -> None:
    source = """
        export async function truth() { return 'truth'; }
        export function then(resolve) { resolve('lie'); }
        truth.then = then;
        Promise.prototype.then = function (resolve) { resolve('lie'); };
        Object.prototype.then = undefined;
        Array.prototype.toJSON = () => 'lie';
        Object.prototype.toJSON = () => 'lie';
        Reflect.ownKeys = () => ['lie'];
        Array.prototype[Symbol.iterator] = function* () { yield 'lie'; };
    """
    async with opened(engine, source) as module:
        assert dir(module) == ["then", "truth"]
        assert await module.truth() == "truth"


async def test_names_of_exports_reach_nothing_of_python(engine: Engine) -> None:
    names = ["__class__", "__await__", "_repr_html_", "_ipython_display_", "__reduce__", "a b"]
    listed = ", ".join(f"f as '{name}'" for name in (*names, "\u202e", "\\ud800\\udc00"))
    source = f"function f(x) {{ return '<script>' + x; }} export {{ {listed}, f }};"
    async with opened(engine, source) as module:
        assert type(module).__name__ == module.__class__.__name__ == "Module"
        for name in ("_repr_html_", "_ipython_display_", "__await__"):
            assert not hasattr(module, name)
        assert await getattr(module, "a b")(1) == "<script>1"
        assert repr(module) == "<open module with 9 exports>"


async def test_many_long_names_of_exports_make_a_missing_one_no_dearer(engine: Engine) -> None:
    names = ", ".join(f"f as '{'x' * 500}{n}'" for n in range(2000))
    async with opened(engine, f"function f() {{}} export {{ {names} }};") as module:
        with pytest.raises(AttributeError, match=r"no export 'missing'$"):
            _ = module.missing


async def test_what_cannot_cross_is_refused_and_the_module_goes_on(engine: Engine) -> None:
    async with opened(engine, "export const go = (x) => x ?? (() => 1)()") as module:
        with pytest.raises(SerializationError, match=r"args\[0\]"):
            await module.go(object())
        assert await module.go(None) == 1


async def test_functions_cross_both_ways_while_it_is_open(engine: Engine) -> None:
    async with opened(engine, "export const make = (f) => (x) => f(x + 1)") as module:
        made = await module.make(lambda x: x * 10)
        assert isinstance(made, GuestFunction)
        assert await made(1) == 20
    with pytest.raises(RunEndedError, match="closed"):
        await made(1)


async def test_no_bridge_is_called_after_the_end(engine: Engine) -> None:
    calls = 0

    async def bridge() -> None:
        nonlocal calls
        calls += 1
        await asyncio.sleep(0)

    source = "export function go() { (async () => { for (;;) await bridge(); })(); }"
    async with opened(engine, source, globals={"bridge": bridge}) as module:
        await module.go()
        assert await eventually(lambda: calls > 10)
    after = calls
    await run_code("export default 1", engine=engine)
    assert calls == after


async def test_a_module_that_nobody_holds_is_ended(engine: Engine) -> None:
    handle = opened(engine, "export const go = () => 1")
    await handle.__aenter__()
    assert engine.executing == 1
    del handle
    assert await eventually(lambda: engine.executing == 0)


async def test_a_sink_that_calls_the_module_back_does_not_hold_up_its_end(engine: Engine) -> None:
    answers: list[Any] = []
    closing = asyncio.Event()

    async def sink(_value: Any) -> None:
        await closing.wait()
        try:
            answers.append(await module.go())
        except RunEndedError as error:
            answers.append(str(error))

    handle = opened(engine, "export function go() { report(1); }", report=sink)
    async with handle as module:
        await module.go()
        closing.set()  # the sink goes on in the next turn of the loop
    assert len(answers) == 1
    assert "closed" in answers[0]
