"""The table of states: what may follow what, and what a worker may say in each."""

from __future__ import annotations

import pytest

from sandbox_kernel.engine.state import MAY_SAY, Lifecycle, State
from sandbox_kernel.wire import messages

USUAL_WAY = [State.ATTACHED, State.RUNNING, State.FINISHING, State.ENDED]


def at(*states: State) -> Lifecycle:
    life = Lifecycle()
    for state in states:
        assert life.move(state)
    return life


def test_a_run_is_queued_attached_running_finishing_and_ended() -> None:
    assert at(*USUAL_WAY).ended


def test_a_run_whose_worker_was_dead_is_queued_again() -> None:
    assert at(State.ATTACHED, State.QUEUED, *USUAL_WAY).ended


@pytest.mark.parametrize("steps", range(len(USUAL_WAY)))
def test_a_run_can_end_in_any_state(steps: int) -> None:
    assert at(*USUAL_WAY[:steps]).move(State.ENDED)


@pytest.mark.parametrize("to", State)
def test_nothing_follows_the_end(to: State) -> None:
    assert at(State.ENDED).move(to) is False


@pytest.mark.parametrize(
    ("states", "to"),
    [
        ([], State.RUNNING),
        ([], State.FINISHING),
        ([State.ATTACHED], State.FINISHING),
        ([State.ATTACHED, State.RUNNING], State.ATTACHED),
        (USUAL_WAY[:3], State.RUNNING),
    ],
)
def test_a_step_that_the_table_lacks_is_a_bug(states: list[State], to: State) -> None:
    with pytest.raises(RuntimeError, match="cannot go from"):
        at(*states).move(to)


def test_only_the_first_stop_counts() -> None:
    life = at(State.ATTACHED)
    assert life.stop("first")
    assert not life.stop("second")
    assert (life.stopping, life.reason) == (True, "first")


def test_a_stop_after_the_end_is_too_late() -> None:
    life = at(State.ENDED)
    assert not life.stop("late")
    assert not life.stopping


def test_a_worker_says_first_and_once_how_it_is_isolated() -> None:
    assert MAY_SAY[State.ATTACHED] == {messages.READY}
    assert messages.READY not in MAY_SAY[State.RUNNING]


@pytest.mark.parametrize("state", [State.QUEUED, State.FINISHING, State.ENDED])
def test_nothing_counts_before_the_worker_or_after_the_result(state: State) -> None:
    assert MAY_SAY[state] == frozenset()
