"""Places: who executes, who waits, and who is next."""

from __future__ import annotations

import pytest

from sandbox_kernel import EngineError
from sandbox_kernel.engine.places import DEEPEST, Nest, Places


def full(*runs: str, capacity: int = 2) -> Places[str]:
    places: Places[str] = Places()
    for run in runs:
        places.enter(run, capacity)
    return places


def test_runs_beyond_the_capacity_wait_in_order() -> None:
    places = full("a", "b", "c", "d")
    assert (places.executing, places.queued) == ({"a", "b"}, 2)


def test_a_place_goes_to_the_one_that_has_waited_longest() -> None:
    places = full("a", "b", "c", "d")
    assert places.leave("b", 2) == "c"
    assert places.leave("a", 2) == "d"
    assert places.leave("c", 2) is None
    assert places.executing == {"d"}


def test_one_that_gives_up_waiting_frees_no_place() -> None:
    places = full("a", "b", "c", "d")
    assert places.leave("c", 2) is None
    assert places.leave("a", 2) == "d"


def test_a_nested_run_does_not_wait_for_its_parent() -> None:
    places, parent = full("a", "b", "c"), Nest()
    assert places.enter("child", 2, parent)
    assert places.leave("child", 2) is None
    assert places.queued == 1


def test_one_nested_run_of_a_parent_executes_at_a_time() -> None:
    places, parent = full("a", "b"), Nest()
    entered = [places.enter(f"child {n}", 2, parent) for n in range(4)]
    assert (entered, places.queued) == ([True, False, False, False], 3)
    assert places.leave("child 0", 2) == "child 1"
    assert places.leave("child 2", 2) is None
    assert places.leave("child 1", 2) == "child 3"
    assert places.executing == {"a", "b", "child 3"}


def test_every_parent_has_a_place_for_a_nested_run() -> None:
    places = full("a", "b")
    assert [places.enter(f"child {n}", 2, Nest()) for n in range(2)] == [True, True]


def test_a_place_that_nobody_else_wants_goes_to_a_nested_run_that_waits() -> None:
    places, parent = full("a", "b"), Nest()
    for name in ("first", "second", "third"):
        places.enter(name, 2, parent)
    assert places.leave("b", 3) == "second"
    assert places.leave("first", 3) == "third"


def test_runs_are_nested_only_so_deep() -> None:
    nest = Nest()
    for _ in range(DEEPEST - 1):
        nest = nest.inner()
    with pytest.raises(EngineError, match="nested 8 deep"):
        nest.inner()


def test_a_smaller_capacity_holds_from_the_next_end_on() -> None:
    places = full("a", "b", "c", capacity=2)
    assert places.leave("a", 1) is None
    assert places.leave("b", 1) == "c"


def test_leaving_twice_changes_nothing() -> None:
    places = full("a", "b", "c")
    places.leave("a", 2)
    assert places.leave("a", 2) is None
    assert places.executing == {"b", "c"}
