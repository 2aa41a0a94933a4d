"""Errors say the line of guest code where they happened, whoever made the error object."""

from __future__ import annotations

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
