"""jsrun: what a script might still find, and limits that it cannot catch."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from sandbox_kernel import OptionError, run_code
from sandbox_kernel.tools import JsrunError, jsrun


def failure(source: str, **limits: int) -> JsrunError:
    with pytest.raises(JsrunError) as caught:
        jsrun(source, "", limits)
    return caught.value


@pytest.mark.parametrize(
    "source",
    [
        "Date()",
        "new Date(0).constructor()",
        "new (new Date(0).constructor)()",
        "new (class extends Date {})()",
        "Reflect.construct(Date, [])",
        "Reflect.construct(Object, [], Date) && Reflect.construct(Date, [], Object)",
        "Date.now.call()",
        "new Date(0).constructor.now()",
        "let C; Reflect.construct = (c) => { C = c; return {} }; new Date(1); new C()",
        "let C; Function.prototype.call = function () { C = this }; new Date(1); new C()",
        "Array.prototype[Symbol.iterator] = function* () { yield 0 }; new Date()",
        "Math.random.call()",
        "Object.getOwnPropertyDescriptor(Math, 'random').value()",
    ],
)
def test_nothing_leads_to_the_clock_or_to_chance(source: str) -> None:
    assert failure(source).code == "EVAL_ERROR"


def test_dates_of_a_given_moment_work() -> None:
    source = """
    class Day extends Date {}
    emit([new Date(0).toISOString(), Date.UTC(2026, 0), Date.parse('2026-01-01'),
          new Day(5).getTime(), new Day(5) instanceof Date, Date.name, Date.length].join());
    """
    day = 1767225600000
    assert jsrun(source) == f"1970-01-01T00:00:00.000Z,{day},{day},5,true,Date,7"


def test_the_global_object_has_the_language_only() -> None:
    names = jsrun("emit(Object.getOwnPropertyNames(globalThis).sort().join())").split(",")
    assert not {"console", "report", "structuredClone", "queueMicrotask", "eval"} & set(names)
    assert jsrun("emit(String(this === globalThis) + typeof emit + typeof read_input)") == (
        "truefunctionfunction"
    )


def test_other_values_are_emitted_as_their_text() -> None:
    source = "emit(1); emit(null); emit({}); emit([1, 2]); emit(Symbol('s')); emit()"
    assert jsrun(source) == "1null[object Object]1,2Symbol(s)undefined"


@pytest.mark.parametrize(
    ("source", "code"),
    [
        ("for (;;) { try { for (;;) emit('x'.repeat(100)) } catch {} }", "OUTPUT_LIMIT"),
        ("try { for (;;); } catch {} finally { for (;;); }", "TIMEOUT"),
        ("emit({ toString() { for (;;); } })", "TIMEOUT"),
        ("emit({ toString() { throw new Error('no') } })", "EVAL_ERROR"),
        ("/^(a+)+$/.test('a'.repeat(60) + 'b')", "TIMEOUT"),
        ("return 1", "EVAL_ERROR"),
        ("await 1", "EVAL_ERROR"),
        ("export default 1", "EVAL_ERROR"),
        ("throw 'text'", "EVAL_ERROR"),
        ("(() => { throw null })()", "EVAL_ERROR"),
    ],
)
def test_limits_cannot_be_caught_and_failures_have_a_code(source: str, code: str) -> None:
    assert failure(source, wall_ms=300, output_kb=1).code == code


def test_a_full_heap_is_a_failure() -> None:
    error = failure("const a = []; for (;;) a.push('x'.repeat(1e6) + a.length)", wall_ms=60_000)
    assert (error.code, error.message) == (
        "EVAL_ERROR",
        "MemoryLimitExceeded: the heap exceeded its limit of 64 MiB",
    )


def test_nothing_runs_after_the_last_statement() -> None:
    source = """
    (async () => { emit('a'); await null; emit('never'); })();
    import('x').catch(() => emit('never'));
    new FinalizationRegistry(() => emit('never')).register({}, 1);
    emit('b');
    """
    assert jsrun(source) == "ab"


def test_it_works_where_a_loop_runs() -> None:
    async def main() -> str:
        return jsrun("emit(read_input())", "from a notebook")

    assert asyncio.run(main()) == "from a notebook"


def test_a_realm_of_a_run_still_has_its_clock() -> None:
    jsrun("emit('x')")
    result = run_code("export default [typeof Date.now(), typeof Math.random()]").wait()
    assert result.result == ["number", "number"]


@pytest.mark.parametrize(
    ("args", "message"),
    [
        ((3,), "source must be a string, not int"),
        (("", 3), "input must be a string"),
        (("", "", []), "limits must be an object"),
        (("", "", {"wall": 1}), "did you mean wall_ms"),
        (("", "", {"wall_ms": 0}), "a whole number from 1 to"),
        (("", "", {"output_kb": True}), "a whole number"),
        (("", "", {"output_kb": 1.5}), "a whole number"),
    ],
)
def test_what_cannot_be_used_is_refused(args: Any, message: str) -> None:
    with pytest.raises(OptionError, match=message):
        jsrun(*args)
