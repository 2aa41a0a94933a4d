"""What is said about an argument that does not fit is short, whatever the argument is."""

from __future__ import annotations

import tracemalloc
from typing import Any

import pytest

from sandbox_kernel.schemas import problem_with
from tests.bounds.hostile_values import HOSTILE, MEGA, doubled

TEXT = {"type": "string"}
NUMBERS = {"type": "array", "items": {"type": "integer"}}
SCHEMAS: dict[str, dict[str, Any]] = {
    "text": TEXT,
    "a number": {"type": "integer", "maximum": 1},
    "one of some": {"enum": ["a", 1, None]},
    "one of two": {"anyOf": [TEXT, NUMBERS]},
    "numbers": NUMBERS,
    "an object": {"type": "object", "properties": {"a": TEXT}, "additionalProperties": False},
    "names of numbers": {"type": "object", "additionalProperties": NUMBERS},
    "lists of lists": {"type": "array", "items": NUMBERS},
}
LONGEST = 1_000


@pytest.mark.parametrize("name", HOSTILE)
def test_a_problem_is_short_and_known_soon(name: str) -> None:
    value = HOSTILE[name]()
    for schema in SCHEMAS.values():
        for given in (value, [value], {"a": value}):
            problem = problem_with(given, schema)
            assert len(problem or "") <= LONGEST


def test_nothing_is_spelled_in_order_to_be_cut() -> None:
    value = doubled(18)
    tracemalloc.start()
    try:
        for schema in SCHEMAS.values():
            problem_with([value, {"a": value}], schema)
        assert tracemalloc.get_traced_memory()[1] < 200_000
    finally:
        tracemalloc.stop()


def test_a_path_does_not_repeat_a_long_name() -> None:
    """It is spelled anew for each item beneath it."""
    value = {"a": {"k" * MEGA: [1.5] * 1_000}}
    schema = {"type": "object", "properties": {"a": SCHEMAS["names of numbers"]}}
    problem = problem_with(value, schema)
    assert problem is not None
    assert len(problem) <= 200


def test_an_array_that_is_too_long_to_be_checked_is_not_begun() -> None:
    class Counted(list[float]):
        looked_at = 0

        def __iter__(self) -> Any:
            type(self).looked_at += 1
            return super().__iter__()

    assert problem_with(Counted([0.5] * 100_000), NUMBERS) is not None
    assert Counted.looked_at == 0
    assert problem_with([1] * 99_000, NUMBERS) is None
