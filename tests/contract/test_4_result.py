"""Section 4: the result, its statuses and its errors; section 5: the two channels."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from typing import Any

import pytest

from sandbox_kernel import one_way, run_code, undefined
from tests.waiting import until

Value = Callable[..., Any]


def test_4_a_success_has_a_result_and_no_error(run: Value) -> None:
    result = run("export default 1")
    assert (result.status, result.result, result.error) == ("success", 1, None)
    assert result.reports == result.logs == []
    assert result.duration_ms > 0
    assert result.memory_used_bytes > 0


def test_4_any_other_status_has_an_error_and_no_result(run: Value) -> None:
    result = run("throw new Error('x')")
    assert result.status == "error"
    assert result.result is undefined
    assert result.error is not None


def test_4_to_json_is_the_contract_shape(run: Value) -> None:
    result = run(
        "console.warn('w', { a: 1 }); report(5n); export default { ok: true }",
        report=lambda v: None,
    )
    shape = json.loads(json.dumps(result.to_json()))
    assert shape["status"] == "success"
    assert shape["result"] == {"ok": True}
    assert shape["reports"] == ["5"]
    assert (shape["logs"][0]["level"], shape["logs"][0]["args"]) == ("warn", ["w", {"a": 1}])
    assert set(shape) == {"status", "result", "reports", "logs", "durationMs", "memoryUsedBytes"}
    failed = run("\nthrow new TypeError('t')", filename="a.ts").to_json()
    assert "result" not in failed
    assert {key: failed["error"][key] for key in ("name", "message", "filename", "line")} == {
        "name": "TypeError",
        "message": "t",
        "filename": "a.ts",
        "line": 2,
    }


@pytest.mark.parametrize(
    ("source", "status", "name", "line", "column"),
    [
        ("let x = ;", "link_error", "SyntaxError", 1, 9),
        ("\n\n  throw new Error('e')", "error", "Error", 3, 13),
        ("const o = null;\no.x", "error", "TypeError", 2, 1),
        ("missing()", "error", "ReferenceError", 1, 1),
        ("const é = 'ü😀'; throw new Error(é)", "error", "Error", 1, 27),
        ("await Promise.reject(new RangeError('r'))", "error", "RangeError", 1, 26),
        ("const x = 1; x = 2", "error", "TypeError", 1, 14),
        ("(function f() { f() })()", "error", "RangeError", 1, 17),
        ("let { a } = null", "error", "TypeError", 1, 1),
        ("import.meta.x.y", "error", "TypeError", 1, 1),
        ("export default 1; export default 2", "link_error", "SyntaxError", 1, 35),
        ("import { a } from './m.js'", "link_error", "LinkError", 1, 19),
    ],
)
def test_4_1_failures_have_their_status_name_and_place(
    run: Value, source: str, status: str, name: str, line: int, column: int
) -> None:
    result = run(source, filename="place.ts")
    assert (result.status, result.error.name) == (status, name)
    place = result.error.filename, result.error.line, result.error.column
    assert place == ("place.ts", line, column)


@pytest.mark.parametrize(
    "source",
    [
        "const x = 1; x()",
        "const x = {}; x.y()",
        "JSON.parse('{')",
        "throw 'text'",
        "await Promise.reject('text')",
        "(() => { [].reduce(String) })()",
        "const é = 'ü😀'; é()",
        "const x: number = 1; x()",
    ],
)
def test_4_2_columns_are_the_same_on_every_line(run: Value, source: str) -> None:
    first, second = run(source).error, run(f"\n{source}").error
    assert (first.line, first.column) == (1, second.column)
    assert second.line == 2


def test_4_2_a_shebang_is_a_comment(run: Value) -> None:
    result = run("#!/usr/bin/env node\nexport default 1", language="javascript")
    assert result.result == 1


def test_4_2_columns_count_characters(run: Value) -> None:
    error = run("const s = 'é😀'; s.nope.x", language="javascript").error
    assert error.column == len("const s = 'é😀'; ") + 1


def test_4_2_the_stack_has_the_guests_frames_only(run: Value) -> None:
    result = run(
        "function outer() { inner() }\nfunction inner() { fail('x') }\nouter()",
        globals={"fail": lambda message: 1 / 0},
        filename="stack.ts",
    )
    lines = result.error.stack.splitlines()
    assert [line.strip() for line in lines] == [
        "at inner (stack.ts:2:20)",
        "at outer (stack.ts:1:20)",
        "at stack.ts:3:1",
    ]


@pytest.mark.parametrize(
    ("thrown", "message"),
    [
        ("'text'", "text"),
        ("42", "42"),
        ("null", "null"),
        ("undefined", "undefined"),
        ("Symbol('s')", "Symbol(s)"),
        ("{ code: 7 }", '{"code":7}'),
        ("{ message: 'like an error', name: 'Custom' }", "like an error"),
        ("() => 1", "[Function]"),
    ],
)
def test_4_2_whatever_is_thrown_is_in_the_message(run: Value, thrown: str, message: str) -> None:
    result = run(f"throw ({thrown})")
    assert (result.status, result.error.message) == ("error", message)


def test_4_2_a_bridge_error_has_the_exceptions_name_and_message_and_nothing_of_the_host(
    run: Value,
) -> None:
    class QuotaExceeded(Exception):
        pass

    def fail() -> None:
        secret = "/home/user/secret.py"
        raise QuotaExceeded("only 3 calls") from ValueError(secret)

    source = """
    try { fail() } catch (error) {
      report([error instanceof Error, error.name, error.message, Object.keys(error), error.stack, String(error.cause)])
    }
    fail()
    """
    result = run(source, globals={"fail": fail}, report=lambda value: None)
    is_error, name, message, keys, stack, cause = result.reports[0]
    assert (is_error, name, message, keys, cause) == (
        True,
        "QuotaExceeded",
        "only 3 calls",
        [],
        "undefined",
    )
    assert ".py" not in stack
    assert (result.error.name, result.error.message) == ("QuotaExceeded", "only 3 calls")
    assert ".py" not in result.error.stack


def test_4_2_an_async_bridge_error_rejects(run: Value) -> None:
    async def fail() -> None:
        raise KeyError("missing")

    source = "export default await fail().catch((error) => [error.name, error.message])"
    assert run(source, globals={"fail": fail}).result == ["KeyError", "missing"]


def test_4_3_console_calls_are_captured_with_level_values_and_time(run: Value) -> None:
    result = run(
        "console.log('a', 1, { b: [2] }); console.info(); console.warn(null); console.error(new Error('e'));"
        " console.debug(1n)"
    )
    assert [log.level for log in result.logs] == ["log", "info", "warn", "error", "debug"]
    assert result.logs[0].args == ("a", 1, {"b": [2]})
    assert result.logs[3].args[0].message == "e"
    assert all(log.timestamp > 1.6e12 for log in result.logs)


def test_4_3_logging_never_throws_and_describes_what_cannot_cross(run: Value) -> None:
    source = """
    class Point { x = 1; #y = 2 }
    const hostile = new Proxy({}, { ownKeys() { throw new Error('trap') } });
    const cyclic = {}; cyclic.self = cyclic;
    console.log(new Point(), Symbol('s'), () => 1, function named() {}, class Foo {}, /a/g, Promise.resolve());
    console.log(hostile);
    console.log(cyclic, { get x() { throw 1 } }, new WeakMap());
    export default 'fine'
    """
    result = run(source)
    assert result.result == "fine"
    assert [getattr(item, "text", None) for item in result.logs[0].args] == [
        "[Point]", "Symbol(s)", "[Function (anonymous)]", "[Function: named]", "[class Foo]", "/a/g",
        "Promise { <resolved> }",
    ]  # fmt: skip
    assert result.logs[0].args[0].fields == {"x": 1}
    assert result.logs[2].args[0]["self"] is result.logs[2].args[0]


def test_4_3_an_unhandled_rejection_is_logged_as_an_error(run: Value) -> None:
    result = run("Promise.reject(new TypeError('lost')); export default 1")
    assert result.status == "success"
    assert [(log.level, log.args) for log in result.logs] == [
        ("error", ("Uncaught (in promise) TypeError: lost\n    at <runCode>:1:20",))
    ]


def test_4_3_a_rejection_handled_later_in_the_same_turn_is_not_logged(run: Value) -> None:
    assert (
        run("const p = Promise.reject(1); await null; p.catch(() => {}); export default 1").logs
        == []
    )


def test_4_1_a_module_that_can_never_settle_is_a_deadlock(run: Value) -> None:
    for source in ("await new Promise(() => {})", "export default new Promise(() => {})"):
        result = run(source)
        assert (result.status, result.error.name) == ("error", "DeadlockError")


# -- memory


MIB = 2**20


@pytest.mark.parametrize(
    ("name", "source"),
    [
        ("objects", "const a = []; for (;;) a.push({ x: [1, 2, 3] })"),
        ("buffers", "const a = []; for (;;) a.push(new ArrayBuffer(1e6))"),
        ("strings", "const a = []; for (let i = 0; ; i++) a.push('x'.repeat(1e5) + i)"),
        ("caught, and gone on", "let a = []; try { for (;;) a.push(new ArrayBuffer(1e6)) } catch {} a = null; export default 1"),
        ("caught for ever", "for (;;) { try { const a = []; for (;;) a.push([1]) } catch {} }"),
        ("in a promise", "await (async () => { const a = []; for (;;) a.push([{}]) })()"),
        ("a closure chain", "let f = () => 0; for (;;) { const g = f; f = () => g() }"),
        ("a map", "const m = new Map(); for (let i = 0; ; i++) m.set(i, [i])"),
        ("uncaught refusal of one absurd buffer", "new ArrayBuffer(1e9)"),
    ],
)  # fmt: skip
def test_4_1_a_full_heap_is_status_memory(run: Value, name: str, source: str) -> None:
    result = run(source, memory_limit_bytes=16 * MIB)
    assert result.status == "memory", (name, result.error)
    assert "16 MiB" in result.error.message


@pytest.mark.parametrize(
    "size", ["1e9", "2e8"]
)  # more than the process may have; than the heap may
def test_4_1_one_refused_allocation_may_be_caught_and_survived(run: Value, size: str) -> None:
    source = f"let error; try {{ new ArrayBuffer({size}) }} catch (e) {{ error = e }} export default String(error)"
    result = run(source, memory_limit_bytes=16 * MIB)
    assert result.status == "success"
    assert "out of memory" in result.result


def test_4_1_an_error_that_only_looks_like_the_engines_stays_an_error(run: Value) -> None:
    for source in (
        "throw new Error('out of memory')",
        "const e = new Error('out of memory'); e.name = 'InternalError'; throw e",
        "throw null",
    ):
        assert run(source).status == "error"


def test_4_1_a_run_within_its_limit_succeeds_and_tells_its_peak(run: Value) -> None:
    result = run(
        "let b = new Uint8Array(8e6).fill(1); b = null; export default 1",
        memory_limit_bytes=16 * MIB,
    )
    assert result.status == "success"
    assert 8e6 <= result.memory_used_bytes <= 16 * MIB


def test_4_1_binary_data_counts(run: Value) -> None:
    result = run("export default new Uint8Array(3e8).length", memory_limit_bytes=64 * MIB)
    assert result.status == "memory"


def test_4_1_a_tiny_limit_is_memory_at_once(run: Value) -> None:
    assert (
        run(
            "export default Array.from({ length: 1e5 }, (_, i) => i)", memory_limit_bytes=1000
        ).status
        == "memory"
    )


# -- 5


@pytest.mark.parametrize(
    "source",
    [
        "export default 42",
        "export default async () => 42",
        "export default () => Promise.resolve(42)",
        "export default Promise.resolve(42)",
        "const x = 42; export { x as default }",
        "export default (async () => async () => 42)().then((f) => f())",
    ],
)
def test_5_1_all_of_these_give_the_same_surface(value: Value, source: str) -> None:
    assert value(source) == 42


def test_5_1_a_function_that_throws_and_one_that_rejects_are_errors(run: Value) -> None:
    for source in (
        "export default () => { throw new TypeError('t') }",
        "export default async () => { throw new TypeError('t') }",
    ):
        result = run(source)
        assert (result.status, result.error.name, result.error.message) == (
            "error",
            "TypeError",
            "t",
        )


def test_5_2_reports_keep_call_order_and_reach_the_sink(run: Value) -> None:
    heard: list[Any] = []
    result = run(
        "for (let i = 0; i < 1000; i++) report({ i })", report=heard.append, execute={"fn": "x"}
    )
    assert heard == result.reports == [{"i": i} for i in range(1000)]


def test_5_2_report_returns_undefined_and_takes_one_value(value: Value) -> None:
    heard: list[Any] = []
    assert value("export default [report(1, 2), report.length]", report=heard.append) == [
        undefined,
        1,
    ]
    assert heard == [1]


async def test_5_2_an_async_sink_is_done_before_the_run_settles() -> None:
    heard: list[Any] = []

    async def sink(value: Any) -> None:
        await asyncio.sleep(0.05)
        heard.append(value)

    await run_code("report(1); report(2)", report=sink)
    assert sorted(heard) == [1, 2]


def test_5_2_reports_are_there_while_the_guest_computes_on() -> None:
    run = run_code("report('first'); report('second'); for (;;);", report=lambda value: None)
    assert until(lambda: len(run.reports) == 2)
    assert list(run.reports) == ["first", "second"]
    run.terminate()
    assert run.wait().status == "terminated"


def test_5_2_a_sink_that_raises_loses_no_report(run: Value) -> None:
    def sink(value: Any) -> None:
        raise RuntimeError("sink")

    result = run("report(1); report(2); export default 3", report=sink)
    assert (result.reports, result.result) == ([1, 2], 3)


def test_5_2_a_one_way_bridge_returns_at_once(value: Value) -> None:
    heard: list[Any] = []

    @one_way
    def tell(item: Any) -> str:
        heard.append(item)
        return "ignored"

    assert value("export default [tell(1), tell(2)]", globals={"tell": tell}) == [
        undefined,
        undefined,
    ]
    assert heard == [1, 2]
