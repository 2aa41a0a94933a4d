"""A guest's numbers never choose how Python's containers perform."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from typing import Any

import pytest

from sandbox_kernel import JSSet
from sandbox_kernel.annotations import kind_of

Value = Callable[..., Any]
MANY = 1001


@pytest.mark.parametrize(
    "members",
    [
        f"Array.from({{ length: {MANY} }}, (_, i) => i)",
        f"Array.from({{ length: {MANY} }}, (_, i) => i / 2)",
        f"Array.from({{ length: {MANY} }}, (_, i) => BigInt(i))",
        f"['text', ...Array.from({{ length: {MANY} }}, (_, i) => i)]",
    ],
)
@pytest.mark.parametrize("wrap", ["{}", "[{}, {{ date: new Date(0) }}]", "[{}, () => 1]"])
def test_a_large_set_with_numbers_is_never_a_python_set(
    value: Value, members: str, wrap: str
) -> None:
    given: list[Any] = []
    source = f"const made = new Set({members}); take({wrap.format('made')}); export default 1"
    value(source, globals={"take": given.append})
    found = given[0] if wrap == "{}" else given[0][0]
    assert type(found) is JSSet
    assert len(found) >= MANY


def test_small_sets_and_sets_of_text_stay_python_sets(value: Value) -> None:
    few = value("export default new Set([1, 2.5, 3n, 'a', null])")
    assert (type(few), few) == (set, {1, 2.5, 3, "a", None})
    text = value(f"export default new Set(Array.from({{ length: {MANY} }}, (_, i) => 't' + i))")
    assert (type(text), len(text)) == (set, MANY)


def test_many_small_sets_stay_python_sets(value: Value) -> None:
    source = f"export default Array.from({{ length: {MANY} }}, (_, i) => new Set([i, -i - 1]))"
    assert {type(each) for each in value(source)} == {set}


def test_a_js_set_equals_a_set_of_the_same_members(value: Value) -> None:
    source = f"export default new Set(Array.from({{ length: {MANY} }}, (_, i) => i))"
    assert value(source) == set(range(MANY))


@pytest.mark.parametrize("annotation", [set, set[int], frozenset[int], set[Decimal], set[Any]])
def test_what_is_annotated_as_a_set_of_numbers_is_a_small_one(annotation: Any) -> None:
    make = kind_of(annotation, "the parameter").make
    assert make is not None
    spelled = [str(number) for number in range(MANY)]
    numbers: list[Any] = spelled if annotation == set[Decimal] else list(range(MANY))
    assert len(make(numbers[1:])) == MANY - 1
    with pytest.raises(ValueError, match="at most 1,000 items"):
        make(numbers)


def test_what_is_annotated_as_a_set_of_texts_may_be_large() -> None:
    make = kind_of(set[str], "the parameter").make
    assert make is not None
    assert len(make([str(number) for number in range(10 * MANY)])) == 10 * MANY
