"""How long a run may execute, counted from its start."""

from __future__ import annotations

import asyncio
import gc
import weakref
from typing import Any

import pytest

from sandbox_kernel import CodeExecution, run_code
from sandbox_kernel.backend import Backend
from tests.backends.script import script

SECONDS = 20


def start(backend: Backend, *steps: list[Any], **lent: Any) -> CodeExecution:
    return run_code(script(*steps), engine=backend, globals=lent)


def message(run: CodeExecution) -> str:
    error = run.wait(SECONDS).error
    assert error is not None
    assert error.name == "Terminated"
    return error.message


def test_terminate_after_gives_the_handle_back(backend: Backend) -> None:
    run = start(backend, ["return", 1])
    assert run.terminate_after(SECONDS) is run
    assert run.wait(SECONDS).result == 1


@pytest.mark.parametrize(
    ("seconds", "reason", "said"),
    [(0.05, None, "0.05s budget"), (0, None, "0s budget"), (0.05, "enough", "enough")],
)
def test_it_terminates_with_the_reason(
    backend: Backend, seconds: float, reason: str | None, said: str
) -> None:
    assert message(start(backend, ["loop"]).terminate_after(seconds, reason)) == said


def test_a_second_one_replaces_the_first(backend: Backend) -> None:
    later = start(backend, ["loop"]).terminate_after(1, "first").terminate_after(1.2, "second")
    assert message(later) == "second"
    sooner = start(backend, ["loop"]).terminate_after(60, "first").terminate_after(0.01, "second")
    assert message(sooner) == "second"


async def test_it_holds_while_a_bridge_awaits(backend: Backend) -> None:
    never = asyncio.Event()
    run = start(backend, ["call", "wait"], ["return", 1], wait=never.wait)
    result = await run.terminate_after(0.05)
    assert result.error is not None
    assert result.error.message == "0.05s budget"


def test_after_the_end_it_changes_nothing(backend: Backend) -> None:
    run = start(backend, ["return", 1])
    result = run.wait(SECONDS)
    assert run.terminate_after(0).wait(SECONDS) is result


def test_a_finished_run_is_not_kept_by_its_budget(backend: Backend) -> None:
    run = start(backend, ["return", 1]).terminate_after(3600)
    run.wait(SECONDS)
    transcript = weakref.ref(run._transcript)
    del run
    gc.collect()
    assert transcript() is None or transcript().active is None  # type: ignore[union-attr]  # it is there
    assert not [a for a in _alarms() if a.call is not None and "3600s" in repr(a.call)]


def _alarms() -> list[Any]:
    from sandbox_kernel.clock import clock

    return [alarm for _, _, alarm in clock._alarms]


@pytest.mark.parametrize("seconds", ["2", None, True, 1j])
def test_seconds_must_be_a_number(backend: Backend, seconds: Any) -> None:
    run = start(backend, ["return", 1])
    with pytest.raises(TypeError, match="seconds must be a number, not"):
        run.terminate_after(seconds)
    run.wait(SECONDS)


@pytest.mark.parametrize("seconds", [-1, float("nan"), float("-inf")])
def test_seconds_must_not_be_negative(backend: Backend, seconds: float) -> None:
    run = start(backend, ["return", 1])
    with pytest.raises(ValueError, match="seconds must not be negative"):
        run.terminate_after(seconds)
    run.wait(SECONDS)


def test_the_reason_of_a_budget_must_be_text(backend: Backend) -> None:
    run = start(backend, ["return", 1])
    with pytest.raises(TypeError, match="reason must be a string, not int"):
        run.terminate_after(1, 2)  # type: ignore[arg-type]  # which is what must fail
    run.wait(SECONDS)


async def test_started_says_that_it_executes(backend: Backend) -> None:
    gate, reached = asyncio.Event(), asyncio.Event()

    async def hold() -> None:
        reached.set()
        await gate.wait()

    run = start(backend, ["call", "hold"], ["return", 1], hold=hold)
    await reached.wait()
    assert run.started is True
    gate.set()
    result = await run
    assert run.started is True
    assert 0 <= result.queued_ms <= result.duration_ms
    assert run.duration_ms == result.duration_ms
