"""Errors say the line of guest code where they happened, whoever made the error object."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from sandbox_kernel import evaluate
from sandbox_kernel.contract import CodeExecutionError, CodeExecutionResult


async def bad(*_args: Any) -> None:
    raise ValueError("nope")


def settled(source: str, **options: Any) -> CodeExecutionResult:
    return evaluate(source, globals={"bad": bad}, filename="a.ts", **options).wait(30)


def failure(source: str, **options: Any) -> CodeExecutionError:
    error = settled(source, **options).error
    assert error is not None, f"{source!r} did not fail"
    return error


@pytest.mark.parametrize(
    ("source", "line"),
    [
        ("\nawait bad(1)", 2),
        ("async function f() {\n  await bad(2)\n}\nawait f()", 2),
        ("const all = [1, 2]\nawait Promise.all(all.map((n) =>\n  bad(n)))", 3),
        ("const later =\n  bad(1);\n\nawait later", 2),
        ("const x = 1\nexport default bad(x)", 2),
        ("async function f() {\n  return bad(1)\n}\nawait f()", 2),
        ("try {\n  await bad(1)\n} catch (e) {\n  throw e\n}", 2),
        ("for await (const x of [\n  bad(1)]) x", 2),
        ("async function* g() {\n  yield bad(1)\n}\nfor await (const x of g()) x", 2),
    ],
)
def test_the_rejection_of_a_bridge_is_placed_where_it_was_called(source: str, line: int) -> None:
    error = failure(source)
    assert (error.name, error.filename, error.line) == ("ValueError", "a.ts", line)
    assert f"a.ts:{line}:" in (error.stack or "")


@pytest.mark.parametrize(
    "classes",
    [
        "class Own extends Error {}",
        "class Own extends Error { constructor(text) { super(text); this.name = 'Own' } }",
        "class Base extends TypeError {} class Own extends Base {}",
        "function Own(text) { return Reflect.construct(Error, [text], Own) } Own.prototype = { __proto__: Error.prototype, constructor: Own }",
    ],
)  # fmt: skip
def test_an_error_of_the_guests_own_class_is_placed_where_it_was_made(classes: str) -> None:
    error = failure(f"{classes}\nfunction check() {{\n  throw new Own('x')\n}}\ncheck()")
    assert (error.message, error.line) == ("x", 3)


def test_an_error_in_the_constructor_of_an_error_is_placed_there() -> None:
    source = "class Own extends Error {\n  constructor() { super(); null.x }\n}\nthrow new Own()"
    error = failure(source)
    assert (error.name, error.line) == ("TypeError", 2)


def test_after_many_calls_it_is_placed_where_it_is_awaited() -> None:
    source = "for (let i = 0; i < 500; i++) await bad(i).catch(() => 1);\nconst p = bad();\nawait p"
    error = failure(source)
    assert (error.name, error.line) == ("ValueError", 3)


def test_the_guest_reads_its_own_frames_of_a_rejection_and_nobody_elses() -> None:
    source = "let seen;\ntry {\n  await bad(1)\n} catch (e) { seen = [e.stack, `${e}`, e instanceof Error] }\nseen"
    stack, text, is_error = settled(source).result
    assert (text, is_error) == ("ValueError: nope", True)
    assert "a.ts:3:" in stack
    assert "<null>" not in stack
    assert "native" not in stack


@pytest.mark.parametrize(
    ("source", "line"),
    [
        ("\nawait import('./nope.ts')", 2),
        ("const name = 'nope'\n\nawait import(name)", 3),
        ("async function f() {\n  return await import('nope')\n}\nawait f()", 2),
    ],
)
def test_a_failed_dynamic_import_is_placed_and_names_its_specifier(source: str, line: int) -> None:
    error = failure(source)
    assert (error.name, error.line) == ("LinkError", line)
    assert error.specifier in ("./nope.ts", "nope")


def test_an_unhandled_rejection_is_logged_with_its_place() -> None:
    (log,) = settled("\nPromise.reject(new Error('lost')); 1").logs
    assert log.args == ("Uncaught (in promise) Error: lost\n    at a.ts:2:20",)


def test_an_empty_specifier_says_that_it_is_empty() -> None:
    for source in ("import ''", "import '\\0x'"):
        error = failure(source)
        assert "it is empty, or begins with a NUL character" in error.message


@pytest.mark.parametrize(
    ("source", "line"),
    [
        ("\n  throw 'text'", 2),
        ("function f() {\n  throw { a: 1 }\n}\nf()", 2),
        ("\nthrow null", 2),
        ("const e = 'made here'\n\nthrow e", 3),
        ("async function f() {\n  throw 5\n}\nawait f()", 2),
        ("const p = new Promise((_, reject) => reject('x'))\nawait p", 2),
        ("[1].map(() => {\n  throw 'x'\n})", 2),
        ("try { throw new Error('a') } catch {}\nthrow 'x'", 2),
        ("new Error('not thrown')\nthrow 'x'", 2),
        ("export default () => {\n  throw 'x'\n}", 2),
    ],
)
def test_a_thrown_value_that_is_not_an_error_is_placed(source: str, line: int) -> None:
    error = failure(source)
    assert (error.name, error.line) == ("Error", line)


@pytest.mark.parametrize(
    "source",
    [
        "new Error('stale');\nconst f = (x) => { if (x) throw 'a'; throw x };\nf(null)",
        "new Error('stale');\nPromise.reject('x')",
    ],
)
def test_a_place_that_is_not_certain_is_not_given(source: str) -> None:
    error = failure(source)
    assert error.line in (None, 2, 3)  # never a line that cannot have thrown it
    assert error.line != 1


@pytest.mark.parametrize(
    ("source", "line"),
    [
        ("const x = 1\nawait new Promise(() => {})", 2),
        ("async function f() { await new Promise(() => {}) }\n\nawait f()", 3),
        ("await null;\ntry { await bad() } catch {}\nawait new Promise(() => {})", 3),
    ],
)
def test_a_deadlock_is_placed_at_the_await(source: str, line: int) -> None:
    error = failure(source)
    assert (error.name, error.filename, error.line) == ("DeadlockError", "a.ts", line)


def test_a_deadlock_with_several_suspects_names_none() -> None:
    error = failure("const f = () => null\nawait f()\nawait new Promise(() => {})")
    assert (error.name, error.line) == ("DeadlockError", None)


@pytest.mark.parametrize(
    ("source", "line"),
    [
        ("const x = 1\nfunction spin() {\n  for (;;) x + 1\n}\nspin()", 3),
        ("Math.max(1)\n\nfor (;;);", 3),
        ("const f = () => {\n  while (true)\n    Math.max(1)\n}\nf()", 3),
        ("[1].forEach(() => {\n  do { } while (true)\n})", 2),
        ("\n/(a+)+$/.test('a'.repeat(60) + 'b')", 2),
        ("import './lib.ts'", 2),
        ("\nwhile (true) await null", 2),
        ("async function f() {\n  for (;;) { await 1 }\n}\nawait f()", 2),
    ],
)
def test_a_terminated_loop_says_its_line(source: str, line: int) -> None:
    modules = {"./lib.ts": "export {}\nfor (;;) ;"}
    error = None
    for seconds in (0.3, 1, 4, 8):  # a busy machine may not have told the line yet
        run = evaluate(source, filename="a.ts", modules=modules)
        error = run.terminate_after(seconds).wait(30).error
        if error is not None and error.line is not None:
            break
    assert error is not None
    assert (error.name, error.line) == ("Terminated", line)
    assert error.filename in ("a.ts", "./lib.ts")
    assert f"  {line} | " in error.render()


def test_a_builtin_that_was_terminated_is_placed_at_its_call() -> None:
    run = evaluate("\n/(a+)+$/.test(\n  'a'.repeat(60) + 'b')").terminate_after(0.3)
    error = run.wait(30).error
    assert error is not None
    assert (error.line, error.column) == (2, 10)


def test_a_loop_that_is_not_certain_is_not_named() -> None:
    source = "Math.max(1)\nfor (let i = 0; i < 5; i++);\nfor (;;);"
    error = evaluate(source).terminate_after(0.4).wait(30).error
    assert error is not None
    assert error.line is None


def test_a_loop_that_awaits_is_not_named_if_others_make_jobs_too() -> None:
    source = (
        "for (const n of [1]) await n;\nconst go = () => Promise.resolve(1).then(go)\nawait go()"
    )
    error = evaluate(source, memory_limit_bytes=2**28).terminate_after(0.4).wait(30).error
    assert error is not None
    assert error.line != 1


def test_a_run_that_is_terminated_while_it_waits_does_not_name_an_old_line() -> None:
    async def forever() -> None:
        await asyncio.sleep(60)

    source = (
        "const end = Date.now() + 300\nwhile (Date.now() < end) 1\nreport('on')\nawait forever()"
    )
    lent = {"forever": forever}
    run = evaluate(source, globals=lent, report=lambda _: run.terminate_after(0.5))
    result = run.wait(30)
    assert result.error is not None
    assert (result.status, result.error.line) == ("terminated", None)


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("const o = { a: 1 };\no.b()", "o.b is not a function"),
        ("const nope = 1; nope()", "nope is not a function"),
        ("const o = { a: {} }; o.a.b(1, 2)", "o.a.b is not a function"),
        ("const o = {}; o['x']()", "o['x'] is not a function"),
        ("[1].map(3)", "not a function"),
        ("new Promise(3)", "not a function"),
        ("throw new TypeError('not a function')", "not a function"),
        ("throw TypeError('not a function')", "not a function"),
        ("const f = (g) => g(); f()", "g is not a function"),
        ("(1, 2)()", "not a function"),
        ("const o = {}; o.b(String)", "o.b is not a function"),
        ("const o = {}; const x = 1; o.b(x, x + 1)", "o.b is not a function"),
        ("const o = { a() { return 1 } }; o.b(o.a())", "not a function"),
        ("Math.nope(Math.max(1))", "not a function"),
        ("let r = 5; r.map((n) => n).filter(String)", "r.map is not a function"),
        ("const o = {}; o.b(n => n)", "o.b is not a function"),
        ("const o = {}; o.b(async n => n)", "o.b is not a function"),
        ("const o = {}; o.b(1, function () { return o.c(2) })", "o.b is not a function"),
        ("const o = {}; o.a(o.b(n => n))", "not a function"),
        ("const o = { b: (f) => f() }; o.b(n => o.c(n))", "o.c is not a function"),
        ("const A = 1; new A(String)", "A is not a constructor"),
        ("const o = {}; new o.A", "o.A is not a constructor"),
        ("const A = 1, o = { b() {} }; o.b(new A(1))", "not a function"),
        ("class E extends TypeError {}\nthrow new E('not a function')", "not a function"),
        ("const T = TypeError; throw new T('not a function')", "not a function"),
    ],
)
def test_what_is_not_a_function_is_named(source: str, message: str) -> None:
    assert failure(source).message == message


@pytest.mark.parametrize(
    ("source", "place"),
    [
        ("const o = {};\n  o.b(n => n)", (2, 5)),
        ("const o = {};\n  o.b(\n1,\nString)", (2, 5)),
        ("const ö = {}; ö\n  .b(async (n: number) => n)", (2, 4)),
        ("const o = 1;\n  o(String)", (2, 3)),
        ("const f = () => {\n  f.b(String)\n}\nf()", (2, 5)),
    ],
)
def test_what_is_not_a_function_is_placed_where_it_is_called(
    source: str, place: tuple[int, int]
) -> None:
    error = failure(source)
    assert (error.line, error.column) == place
    assert f":{place[0]}:{place[1]}" in (error.stack or "").splitlines()[0]


@pytest.mark.parametrize(
    ("source", "places"),
    [
        ("const text = 'no'\nthrow new Error(text)", ["2:11"]),
        ("const text = '%'\nJSON.parse(\n  text\n)", ["2:6"]),
        ("const n = 1\nconst f = (a) => { throw new Error(a) }\nf(\n  n, n)", ["2:30", "3:1"]),
        ("[1].map((n) => {\n  null.x })", ["2:3", "1:5"]),
        ("[1].map(n => n.x.y)", ["1:14", "1:5"]),
        ("const ö = 'no'; throw new RangeError(ö)", ["1:27"]),
        ("const n: number = 1\nawait bad(\n  n as any,\n  n)", ["2:7"]),
        ("const t = '%'\nJSON.parse(t +\n  t.slice(0) +\n  t[0])", ["2:6"]),
        ("const f = (a) => { a.b.c }\n1 + f(\n  [1].at(0), { b: Math.max(1) }.b)", ["1:20", "2:5"]),
        ("[1].map([2].map((n) =>\n  n.x.y))", ["2:3", "1:13"]),
        ("Math.max(\n  missing)", ["2:3"]),
        ("Math.max(\n  later); const later = 1", ["2:3"]),
    ],
)
def test_a_call_is_placed_at_what_is_called_and_not_at_its_arguments(
    source: str, places: list[str]
) -> None:
    error = failure(source)
    frames = (error.stack or "").splitlines()
    assert [frame.rstrip(")").partition("a.ts:")[2] for frame in frames] == places
    assert f"{error.line}:{error.column}" == places[0]


def test_of_many_unhandled_rejections_each_says_its_line() -> None:
    source = "const n = 1;\nfor (let i = 0; i < 100; i++)\n  Promise.reject(new Error(n));\n1"
    logs = settled(source).logs
    assert len(logs) == 100
    assert all("a.ts:3:" in log.args[0] for log in logs)
    assert "a.ts:3:22" in logs[0].args[0]


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("function f() {", "unexpected end of input"),
        ("const x =", "unexpected end of input"),
        ("rows.map((row) => {", "unexpected end of input"),
        ("[].reduce((a, b) => a + b)", "reduce of an empty array without an initial value"),
        ("throw new TypeError('empty array')", "empty array"),
        ("[bad()]", "result[0]: a promise cannot cross out of the sandbox; await it first"),
    ],
)
def test_messages_of_the_engine_are_said_in_words(source: str, message: str) -> None:
    assert failure(source).message == message
