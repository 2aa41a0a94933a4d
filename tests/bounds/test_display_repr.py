"""`repr` and `to_json` of what a run gave end, and are bounded."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from sandbox_kernel import CodeExecutionResult, run_code
from sandbox_kernel.contract import CodeExecutionError, CodeExecutionLog
from sandbox_kernel.execution import LiveView
from sandbox_kernel.jsonable import to_jsonable
from sandbox_kernel.values import ArrayBuffer, BigInt, GuestError, JSMap, JSSet, Opaque
from tests.bounds.hostile_values import HOSTILE, MEGA, doubled, guest_function

MOST = 10_000
ITEMS = 100_000  # spelled again, at most


@pytest.mark.parametrize("name", HOSTILE)
def test_a_repr_of_ours_is_bounded(name: str) -> None:
    value = HOSTILE[name]()
    log = CodeExecutionLog("log", (value,), 0.0)
    result = CodeExecutionResult("success", value, [value] * 1_000, [log] * 1_000)
    for holder in (JSMap([(value, value)]), JSSet([value]), LiveView([value] * 9), log, result):
        assert len(repr(holder)) <= MOST


@pytest.mark.parametrize(
    "leaf",
    [
        BigInt(1 << 8 * MEGA),
        ArrayBuffer(b"\0" * MEGA),
        GuestError("E" * MEGA, "m" * MEGA),
        guest_function("f" * MEGA),
        Opaque("C", "t" * MEGA),
        CodeExecutionError("E" * MEGA, "m" * MEGA, "s" * MEGA, "p" * MEGA),
    ],
    ids=lambda leaf: type(leaf).__name__,
)
def test_a_leaf_has_a_short_repr(leaf: object) -> None:
    assert len(repr(leaf)) <= MOST


def test_small_values_have_the_repr_of_python() -> None:
    assert repr(JSMap([("a", 1), (2, [3])])) == "JSMap([('a', 1), (2, [3])])"
    assert repr(JSSet([1, True, ()])) == "JSSet([1, True, ()])"
    assert repr(LiveView([{"a": (1,)}, {2}, set(), b"x"])) == "[{'a': (1,)}, {2}, set(), b'x']"
    assert repr(BigInt(7)) == "BigInt(7)"
    assert repr(ArrayBuffer(b"ab")) == "ArrayBuffer(b'ab')"
    assert repr(GuestError("E", "m")) == "GuestError('E', 'm')"
    assert repr(CodeExecutionLog("log", (1,), 2.0)) == (
        "CodeExecutionLog(level='log', args=(1,), timestamp=2.0, method='log', depth=0)"
    )
    error = CodeExecutionError("E", "m", line=3)
    assert "name='E', message='m'" in repr(CodeExecutionResult("error", error=error))


def test_what_is_missing_in_a_repr_is_counted() -> None:
    assert repr(JSSet(range(10_000))).endswith(" more])")
    assert repr(CodeExecutionError("E", "m" * 1_234)).count("... 234 more") == 1


ENDLESS = "let x = [1]; for (let i = 0; i < 60; i++) x = [x, x];"


@pytest.mark.parametrize(
    ("source", "taken"),
    [
        ("export default x", lambda result: result),
        ("report(x); export default 1", lambda result: (result, result.reports)),
        ("console.log(x); export default 1", lambda result: result.logs),
        ("export default new Map([[x, x]])", lambda result: result.result),
        ("export default 10n ** 50000n", lambda result: result.result),
        ("throw new Error('m'.repeat(1e6))", lambda result: result.error),
    ],
)
def test_asyncio_run_returns_whatever_main_returns(
    source: str, taken: Callable[[CodeExecutionResult], Any]
) -> None:
    """Python 3.11 and 3.12 take the repr of what `main` returned when `asyncio.run` ends."""

    async def main() -> Any:
        return taken(await run_code(ENDLESS + source))

    assert asyncio.run(main()) is not None


def items(value: Any) -> int:
    """How many there are when everything is spelled out."""
    if isinstance(value, dict):
        value = list(value.values())
    return 1 + sum(map(items, value)) if isinstance(value, list) else 1


def test_json_spells_what_is_shared_again_only_so_often() -> None:
    assert items(to_jsonable(doubled(18))) <= 2 * ITEMS
    zeros = [0] * MEGA
    spelled = to_jsonable([zeros] * 100)
    assert (spelled[0] == zeros, set(spelled[1:])) == (True, {"[Repeated]"})


def test_json_repeats_only_so_many_characters() -> None:
    shared = {"text": "x" * MEGA}
    spelled = to_jsonable([shared] * 1_000)
    assert sum(item != "[Repeated]" for item in spelled) <= 12


def test_json_is_bounded_for_all_of_a_result_together() -> None:
    logs = [CodeExecutionLog("log", (doubled(17),), 0.0) for _ in range(20)]
    result = CodeExecutionResult("success", doubled(17), [doubled(17)] * 5, logs)
    assert items(result.to_json()) <= 2 * ITEMS


def test_json_is_complete_where_little_is_shared() -> None:
    many = [{"id": at} for at in range(ITEMS)]
    assert to_jsonable(many) == many
    part = {"a": [1, 2]}
    assert to_jsonable([part, part, JSMap([(1, part)])]) == [part, part, [[1, part]]]


def characters(value: Any) -> int:
    """Of all keys and texts when everything is spelled out."""
    if isinstance(value, dict):
        return sum(len(key) + characters(item) for key, item in value.items())
    if isinstance(value, list):
        return sum(map(characters, value))
    return len(value) if isinstance(value, str) else 0


@pytest.mark.parametrize("place", ["keys", "texts"])
def test_json_repeats_long_texts_only_so_often(place: str) -> None:
    """They are shared here, but not in JSON: a guest's short list of objects was gigabytes of it."""
    text = "k" * MEGA
    shared = [{text: at} if place == "keys" else {"a": text} for at in range(1_000)]
    assert 100 * MEGA <= characters(to_jsonable(shared)) <= 102 * MEGA


def test_short_keys_are_repeated_as_often_as_there_are_objects() -> None:
    rows = [{"a_name_of_a_column": at} for at in range(ITEMS)]
    assert to_jsonable(rows) == rows


@pytest.mark.parametrize("name", HOSTILE)
def test_json_of_any_value_ends(name: str) -> None:
    to_jsonable(HOSTILE[name]())
