"""Places: who executes, who waits, and who is next."""

from __future__ import annotations

from sandbox_kernel.engine.places import Places


def full(*runs: str, capacity: int = 2) -> Places[str]:
    places: Places[str] = Places()
    for run in runs:
        places.enter(run, capacity, nested=False)
    return places


def test_runs_beyond_the_capacity_wait_in_order() -> None:
    places = full("a", "b", "c", "d")
    assert (places.executing, list(places.queue)) == ({"a", "b"}, ["c", "d"])


def test_a_place_goes_to_the_one_that_has_waited_longest() -> None:
    places = full("a", "b", "c", "d")
    assert places.leave("b", 2) == "c"
    assert places.leave("a", 2) == "d"
    assert places.leave("c", 2) is None
    assert places.executing == {"d"}


def test_one_that_gives_up_waiting_frees_no_place() -> None:
    places = full("a", "b", "c", "d")
    assert places.leave("c", 2) is None
    assert list(places.queue) == ["d"]


def test_a_nested_run_does_not_wait_for_its_parent() -> None:
    places = full("a", "b", "c")
    assert places.enter("child of a", 2, nested=True)
    assert places.leave("child of a", 2) is None
    assert list(places.queue) == ["c"]


def test_a_smaller_capacity_holds_from_the_next_end_on() -> None:
    places = full("a", "b", "c", capacity=2)
    assert places.leave("a", 1) is None
    assert places.leave("b", 1) == "c"


def test_leaving_twice_changes_nothing() -> None:
    places = full("a", "b", "c")
    places.leave("a", 2)
    assert places.leave("a", 2) is None
    assert places.executing == {"b", "c"}
