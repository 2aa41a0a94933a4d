"""A bridge's own failure reaches its author as a Python exception, and nobody else."""

from __future__ import annotations

import json
import pickle
import traceback
from typing import Any

from sandbox_kernel import evaluate, one_way
from sandbox_kernel.contract import CodeExecutionResult


def divide(row: dict[str, int]) -> float:
    value = row["a"]
    return value / 0


async def divide_later(row: dict[str, int]) -> float:
    return divide(row)


def settled(source: str, **lent: Any) -> CodeExecutionResult:
    return evaluate(source, globals=lent).wait(30)


def test_the_exceptions_of_bridges_are_kept_in_order_caught_or_not() -> None:
    source = "try { now({ b: 1 }) } catch {}\nawait later({ a: 1 }).catch(() => 1)\nnow({ a: 2 })"
    result = settled(source, now=divide, later=divide_later)
    kinds = [type(error) for error in result.bridge_errors]
    assert kinds == [KeyError, ZeroDivisionError, ZeroDivisionError]
    last = traceback.extract_tb(result.bridge_errors[-1].__traceback__)
    assert [(frame.name, frame.line) for frame in last] == [("divide", "return value / 0")]
    assert result.error is not None
    assert result.error.name == "ZeroDivisionError"


def test_a_run_without_failures_has_none() -> None:
    assert settled("now()", now=lambda: 1).bridge_errors == ()


def test_only_the_first_hundred_are_kept() -> None:
    numbers = iter(range(10_000))

    def fail() -> None:
        raise ValueError(next(numbers))

    source = "for (let i = 0; i < 300; i++) { try { fail() } catch {} }"
    errors = settled(source, fail=fail).bridge_errors
    assert [error.args[0] for error in errors] == list(range(100))


def test_a_value_that_cannot_be_given_back_is_the_authors_business_too() -> None:
    result = settled("give()", give=lambda: object())
    assert [type(error).__name__ for error in result.bridge_errors] == ["SerializationError"]


def test_one_way_bridges_count(caplog: Any) -> None:
    @one_way
    def note() -> None:
        raise ValueError("lost")

    result = settled("note(); await 1; ask()", note=note, ask=lambda: 1)
    assert [str(error) for error in result.bridge_errors] == ["lost"]
    assert "a one-way bridge raised" in caplog.text


def test_they_are_in_no_json_repr_comparison_or_pickle() -> None:
    class Secret(Exception):
        pass

    def fail() -> None:
        raise Secret("path /home/me")

    result = settled("try { fail() } catch {}\n1", fail=fail)
    assert len(result.bridge_errors) == 1
    assert "Secret" not in repr(result) + json.dumps(result.to_json())
    again = pickle.loads(pickle.dumps(result))
    assert again == result
    assert again.bridge_errors == ()


def test_none_of_it_reaches_the_guest() -> None:
    source = """
    const seen = [];
    try { now({ b: 1 }) } catch (e) {
      for (let o = e; o; o = Object.getPrototypeOf(o)) {
        for (const key of Reflect.ownKeys(o)) seen.push(String(key), String(e[key]));
      }
    }
    seen.join()
    """
    said = settled(source, now=divide).result
    assert "KeyError" in said
    for secret in ("test_bridge_errors", "divide", "Traceback", ".py"):
        assert secret not in said
