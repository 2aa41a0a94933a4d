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
        evaluate("1", global_={})  # type: ignore[arg-type]


def test_unwrap_gives_the_value_or_raises_what_carries_the_result() -> None:
    assert settled("[1, 2]").unwrap() == [1, 2]
    failed = settled("const o = null;\no.x", filename="rule.ts")
    with pytest.raises(RunFailed) as caught:
        failed.unwrap()
    assert caught.value.result is failed
    assert str(caught.value).startswith("error: TypeError: cannot read property 'x' of null")
    assert "rule.ts:2:1" in str(caught.value)


def test_what_unwrap_raises_is_short_and_can_be_sent_elsewhere() -> None:
    error = CodeExecutionError("Error", "x" * 1_000_000)
    raised = RunFailed(CodeExecutionResult("error", error=error))
    assert len(str(raised)) < 3_000
    assert len(repr(raised)) < 12_000
    again = pickle.loads(pickle.dumps(raised))
    assert again.result == raised.result
