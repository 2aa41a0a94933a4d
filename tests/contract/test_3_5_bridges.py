"""Section 3.5: functions and awaitables of the host, called by the guest."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from sandbox_kernel import run_code, undefined

Value = Callable[..., Any]


def test_3_5_a_python_function_becomes_a_function_with_its_name(value: Value) -> None:
    def add(a: int, b: int) -> int:
        return a + b

    source = "export default [typeof add, add.name, add(1, 2), 'prototype' in add]"
    assert value(source, globals={"add": add}) == ["function", "add", 3, False]


def test_3_5_functions_nest_in_plain_objects(value: Value) -> None:
    assert value("export default a.b[0].c(4)", globals={"a": {"b": [{"c": lambda n: n * 2}]}}) == 8


async def test_3_5_async_functions_return_promises() -> None:
    async def later(n: int) -> int:
        await asyncio.sleep(0)
        return n + 1

    source = "const p = later(1); export default [p instanceof Promise, await p]"
    assert (await run_code(source, globals={"later": later})).result == [True, 2]


async def test_3_5_a_function_that_returns_an_awaitable_returns_a_promise() -> None:
    def sometimes(wait: bool) -> Any:
        return asyncio.sleep(0, "later") if wait else "now"

    source = "const p = sometimes(true); export default [sometimes(false), p instanceof Promise, await p]"
    result = await run_code(source, globals={"sometimes": sometimes})
    assert result.result == ["now", True, "later"]


@pytest.mark.parametrize("wrapped", [False, True])
def test_3_5_an_answer_that_comes_while_another_call_waits(wrapped: bool) -> None:
    """The guest is in `outer`, which called it back, and waits for `inner`; a promise settles then."""

    async def later() -> int:
        return 42

    def outer(call_back: Any) -> Any:
        call_back()
        return [later()] if wrapped else later()

    source = """
        let got;
        const spin = () => { const end = Date.now() + 30; while (Date.now() < end); };
        const promise = outer(() => { spin(); got = inner() });
        export default [await (promise instanceof Promise ? promise : promise[0]), got];
    """
    bridges = {"outer": outer, "inner": lambda: 1}
    result = run_code(source, language="javascript", globals=bridges).wait(20)
    assert (result.status, result.result) == ("success", [42, 1]), result.error


async def test_3_5_what_a_refused_answer_lent_disturbs_nothing() -> None:
    async def later() -> int:
        return 1

    async def refused() -> Any:
        return [later(), object()]

    async def odd() -> Any:
        return {1, 2}

    source = """
        const first = await refused().catch((error) => error.name);
        export default [first, (await odd()).size, (await odd()).size];
    """
    result = await run_code(source, globals={"refused": refused, "odd": odd})
    assert result.result == ["SerializationError", 2, 2], result.error


async def test_3_5_many_large_answers_do_not_pile_up_in_the_heap() -> None:
    async def text() -> str:
        return "x" * 100_000

    source = """
        let sum = 0;
        await Promise.all(Array.from({ length: 60 }, () => text().then((t) => { sum += t.length })));
        export default sum;
    """
    result = await run_code(source, globals={"text": text}, memory_limit_bytes=6 * 2**20)
    assert (result.status, result.result) == ("success", 6_000_000)


async def test_3_5_answers_keep_their_order_whatever_they_are() -> None:
    """Values, errors, bytes and calls into the guest are different messages on their way back."""

    async def answer(n: int, note: Any) -> Any:
        if n % 5 == 1:
            raise ValueError(str(n))
        if n % 5 == 2:
            return bytes([n % 256])
        if n % 5 == 3:
            await note(n)
        return n

    source = """
        const order = [];
        const note = (n) => { order.push(-n) };
        const all = Array.from({ length: 50 }, (_, n) => answer(n, note).then(
            (value) => { order.push(n); return typeof value === 'number' ? value : value[0] },
            (error) => { order.push(n); return Number(error.message) }));
        export default [await Promise.all(all), order];
    """
    values, order = (await run_code(source, globals={"answer": answer})).result
    assert values == list(range(50))
    at_once = [n for n in order if n >= 0 and n % 5 != 3]
    assert at_once == sorted(at_once)
    assert [-n for n in order if n < 0] == [n for n in range(50) if n % 5 == 3]


async def test_3_5_calls_keep_their_order() -> None:
    order: list[int] = []

    async def start(n: int) -> int:
        order.append(n)
        await asyncio.sleep(0.001 * (20 - n))
        return n

    source = "export default await Promise.all(Array.from({ length: 20 }, (_, n) => start(n)))"
    result = await run_code(source, globals={"start": start})
    assert order == result.result == list(range(20))


async def test_3_5_a_thousand_concurrent_calls_are_fine() -> None:
    async def twice(n: int) -> int:
        await asyncio.sleep(0.01)
        return 2 * n

    source = "export default (await Promise.all(Array.from({ length: 1000 }, (_, n) => twice(n)))).length"
    assert (await run_code(source, globals={"twice": twice})).result == 1000


def test_3_5_an_awaitable_given_as_a_value_is_a_promise(run: Value) -> None:
    async def answer() -> int:
        return 42

    assert run(
        "export default [p instanceof Promise, await p]", globals={"p": answer()}
    ).result == [
        True,
        42,
    ]


def test_3_5_an_undefined_result_is_undefined(value: Value) -> None:
    assert value("export default f()", globals={"f": lambda: undefined}) is undefined
    assert value("export default f() === null", globals={"f": lambda: None}) is True


def test_3_5_bridges_see_no_this_and_no_more_than_the_arguments(value: Value) -> None:
    heard: list[Any] = []
    value(
        "({ f }).f(1); f.call({ secret: 1 }, 2); export default 0",
        globals={"f": lambda *args: heard.append(args)},
    )
    assert heard == [(1,), (2,)]


class Missing(Exception):
    code = "ENOENT"


class Numbered(Exception):
    code = 404


class Hostile(Exception):
    @property
    def code(self) -> str:
        raise RuntimeError("no code")


@pytest.mark.parametrize(
    ("kind", "code"), [(Missing, "ENOENT"), (Numbered, None), (Hostile, None), (ValueError, None)]
)
def test_3_5_the_code_of_an_exception_crosses_if_it_is_text(
    value: Value, kind: type[Exception], code: str | None
) -> None:
    def fail() -> None:
        raise kind("gone")

    async def fail_later() -> None:
        raise kind("gone")

    source = """
    const seen = (e) => [e.name, e.message, e.code ?? null, 'code' in e];
    let now;
    try { fail() } catch (e) { now = seen(e) }
    export default [now, await failLater().catch(seen)];
    """
    expected = [kind.__name__, "gone", code, code is not None]
    assert value(source, globals={"fail": fail, "failLater": fail_later}) == [expected, expected]


def test_3_5_a_node_specifier_finds_what_was_lent_under_the_name(run: Value, value: Value) -> None:
    lent = {"imports": {"fs": {"size": 3}, "path/posix": {"sep": "/"}}}
    source = "import { size } from 'node:fs'; import * as p from 'node:path/posix';"
    assert value(f"{source} export default [size, p.sep]", **lent) == [3, "/"]
    error = run("import 'node:os'", **lent).error
    assert (error.specifier, error.message) == (
        "node:os",
        "cannot import 'node:os': no import of that name was given to this run",
    )
    for specifier in ("node:", "node:./lib.ts", "node:node:fs", "file:fs"):
        assert run(f"import '{specifier}'", **lent).status == "link_error"
