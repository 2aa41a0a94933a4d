"""`evaluate`, `unwrap` and `RunFailed`: results for code whose author knows no contract."""

from __future__ import annotations

import inspect
import pickle
from typing import Any

import pytest

from sandbox_kernel import (
    CodeExecutionOptions,
    OptionError,
    RunFailed,
    evaluate,
    run_code,
    undefined,
)
from sandbox_kernel.clean import is_clean
from sandbox_kernel.contract import CodeExecutionError, CodeExecutionResult


def settled(source: str, **options: Any) -> CodeExecutionResult:
    return evaluate(source, **options).wait(30)


@pytest.mark.parametrize(
    ("source", "value"),
    [
        ("console.log('the answer is', 42)", undefined),
        ("const total = 1 + 2;\ntotal", 3),
        ("const later = Promise.resolve(5)\nlater", 5),
        ("export default 7; 8", 7),
        ("export default () => 9", 9),
        ("const only = 'a statement';", undefined),
        ("", undefined),
        ("interface Row { id: number }\n({ id: 1 }) as Row", {"id": 1}),
    ],
)
def test_evaluate_gives_the_default_export_or_the_last_expression(source: str, value: Any) -> None:
    result = settled(source)
    assert (result.status, result.result) == ("success", value)


def test_evaluate_calls_the_export_that_execute_names_and_demands_it() -> None:
    call = {"fn": "add", "args": [1, 2]}
    added = settled("export const add = (a: number, b: number) => a + b; 0", execute=call)
    assert added.result == 3
    missing = settled("1 + 1", execute=call)
    assert (missing.status, missing.error and missing.error.message) == (
        "link_error",
        "the module has no export 'add'",
    )


def test_evaluate_refuses_a_result_that_cannot_cross_as_run_code_does() -> None:
    refused = settled("class Point { x = 1 }\nnew Point()")
    strict = run_code("class Point { x = 1 }\nexport default new Point()").wait(30)
    assert refused.status == strict.status == "error"
    assert refused.error is not None
    assert strict.error is not None
    assert (refused.error.name, refused.error.message) == (
        strict.error.name,
        strict.error.message,
    )


def test_evaluate_takes_the_arguments_of_run_code() -> None:
    ours, theirs = inspect.signature(evaluate), inspect.signature(run_code)
    assert ours.parameters == theirs.parameters
    options = CodeExecutionOptions.of(globals={"limit": 10}, filename="rule.ts")
    assert settled("limit * 2", options=options).result == 20
    with pytest.raises(OptionError, match="did you mean 'globals'"):
        evaluate("1", global_={})  # type: ignore[arg-type]  # wrong on purpose


def test_unwrap_gives_the_value_or_raises_what_carries_the_result() -> None:
    assert settled("[1, 2]").unwrap() == [1, 2]
    failed = settled("const o = null;\no.x", filename="rule.ts")
    with pytest.raises(RunFailed) as caught:
        failed.unwrap()
    assert caught.value.result is failed
    lines = str(caught.value).split("\n")
    assert lines[0] == "TypeError: cannot read property 'x' of null"
    assert lines[2:] == ["  rule.ts:2:1", "     2 | o.x", "       | ^"]


def test_what_unwrap_raises_is_short_and_can_be_sent_elsewhere() -> None:
    error = CodeExecutionError("Error", "x" * 1_000_000)
    raised = RunFailed(CodeExecutionResult("error", error=error))
    assert len(str(raised)) < 5_000
    assert len(repr(raised)) < 12_000
    again = pickle.loads(pickle.dumps(raised))
    assert again.result == raised.result


def test_an_error_explains_itself_with_its_place_and_a_hint() -> None:
    error = settled("const n = 1;\n  rowz.length", globals={"rows": [1]}, filename="rule.ts").error
    assert error is not None
    assert error.hint == "did you mean rows?"
    assert error.render() == (
        "ReferenceError: rowz is not defined\n"
        "\n"
        "  rule.ts:2:3\n"
        "     2 |   rowz.length\n"
        "       |   ^\n"
        "\n"
        "hint: did you mean rows?"
    )


def test_an_explanation_is_in_no_json_repr_or_comparison_and_can_be_sent() -> None:
    error = settled("rowz.length", globals={"rows": [1]}).error
    assert error is not None
    assert set(error.to_json()) == {"name", "message", "stack", "filename", "line", "column"}
    assert "rows" not in repr(error)
    bare = CodeExecutionError(error.name, error.message, error.stack, None, "<runCode>", 1, 1)
    assert (bare, bare.hint) == (error, None)
    assert bare.render().startswith("ReferenceError: rowz is not defined\n")
    assert pickle.loads(pickle.dumps(error)).hint == error.hint


def test_an_error_of_a_lent_function_can_be_sent_with_its_run() -> None:
    def fail() -> None:
        raise ValueError("no")

    error = settled("fail()", globals={"fail": fail}, imports={"m": {"fail": fail}}).error
    assert pickle.loads(pickle.dumps(error)) == error


def test_nothing_hostile_is_in_an_explanation() -> None:
    evil = "\x1b[2J\u202e"
    error = settled(f"throw new ReferenceError('{evil} is not defined')").error
    assert error is not None
    assert is_clean(error.render())
    named = settled(f"import {{ x }} from '{evil}fs'", imports={f"{evil[1:]}fs": {}}).error
    assert named is not None
    assert is_clean(named.hint or "")
    assert is_clean(named.render())
