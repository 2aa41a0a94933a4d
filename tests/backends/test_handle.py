"""The handle, whatever executes its run."""

from __future__ import annotations

import asyncio
import threading
from typing import Any

import pytest

from sandbox_kernel import CodeExecution, run_code
from sandbox_kernel.backend import Backend
from sandbox_kernel.execution import Execution
from tests.backends.script import script

SECONDS = 20


def ignore(_value: Any) -> None:
    """A sink, so that the guest may report."""


def start(backend: Backend, *steps: list[Any], **lent: Any) -> CodeExecution:
    return run_code(script(*steps), engine=backend, report=ignore, globals=lent)


async def test_awaiting_it_gives_the_result(backend: Backend) -> None:
    result = await start(backend, ["return", 42])
    assert (result.status, result.result, result.error) == ("success", 42, None)


async def test_awaiting_it_twice_gives_the_same_result(backend: Backend) -> None:
    run = start(backend, ["return", 1])
    assert await run is await run


def test_wait_gives_the_result_without_an_event_loop(backend: Backend) -> None:
    assert start(backend, ["return", "plain"]).wait(SECONDS).result == "plain"


async def test_wait_on_a_running_loop_says_to_await(backend: Backend) -> None:
    run = start(backend, ["return", 1])
    with pytest.raises(RuntimeError, match="await the run instead"):
        run.wait()
    assert (await run).result == 1


def test_it_can_be_awaited_on_another_loop_than_its_own(backend: Backend) -> None:
    run = start(backend, ["return", 5])

    async def elsewhere() -> Any:
        return (await run).result

    assert [asyncio.run(elsewhere()), asyncio.run(elsewhere())] == [5, 5]


def test_after_a_timeout_of_wait_the_run_goes_on(backend: Backend) -> None:
    run = start(backend, ["loop"])
    with pytest.raises(TimeoutError, match=r"did not settle within 0\.01 s"):
        run.wait(0.01)
    assert run.running
    run.terminate()
    assert run.wait(SECONDS).status == "terminated"


def test_running_is_true_until_it_has_settled(backend: Backend) -> None:
    run = start(backend, ["loop"])
    assert run.running is True
    run.terminate()
    run.wait(SECONDS)
    assert run.running is False


@pytest.mark.parametrize(
    ("reason", "message"), [("2s budget", "2s budget"), (None, "terminated by the caller")]
)
def test_terminate_settles_it_with_the_reason(
    backend: Backend, reason: str | None, message: str
) -> None:
    run = start(backend, ["loop"])
    run.terminate(reason)
    error = run.wait(SECONDS).error
    assert error is not None
    assert (error.name, error.message) == ("Terminated", message)


def test_only_the_first_terminate_counts(backend: Backend) -> None:
    run = start(backend, ["loop"])
    run.terminate("first")
    run.terminate("second")
    error = run.wait(SECONDS).error
    assert error is not None
    assert error.message == "first"


def test_terminate_after_the_end_changes_nothing(backend: Backend) -> None:
    run = start(backend, ["return", 1])
    result = run.wait(SECONDS)
    run.terminate("late")
    assert run.wait(SECONDS) is result


def test_a_reason_must_be_text(backend: Backend) -> None:
    run = start(backend, ["loop"])
    with pytest.raises(TypeError, match="reason must be a string, not int"):
        run.terminate(2)  # type: ignore[arg-type]  # which is what must fail
    run.terminate()
    run.wait(SECONDS)


async def test_terminate_works_from_another_thread(backend: Backend) -> None:
    run = start(backend, ["loop"])
    threading.Thread(target=run.terminate, args=["from a thread"]).start()
    error = (await run).error
    assert error is not None
    assert error.message == "from a thread"


async def test_reports_and_logs_are_live_and_read_only(backend: Backend) -> None:
    proceed = asyncio.Event()
    reached = asyncio.Event()

    async def gate() -> None:
        reached.set()
        await proceed.wait()

    steps: list[list[Any]] = [
        ["report", 1],
        ["log", "one"],
        ["call", "gate"],
        ["report", 2],
        ["return", None],
    ]
    run = start(backend, *steps, gate=gate)
    reports, logs = run.reports, run.logs
    await reached.wait()
    assert (list(reports), [log.args for log in logs]) == ([1], [("one",)])
    assert not hasattr(reports, "append")
    with pytest.raises(TypeError):
        reports[0] = 9  # type: ignore[index]  # which is what must fail
    proceed.set()
    result = await run
    assert list(reports) == result.reports == [1, 2]
    assert list(logs) == result.logs


async def test_what_was_reported_before_a_terminate_is_kept(backend: Backend) -> None:
    run = start(backend, ["report", "kept"], ["loop"])
    async for _ in run.stream():
        run.terminate()
    assert (await run).reports == ["kept"]


async def test_stream_yields_reports_as_they_come_and_ends_with_the_run(backend: Backend) -> None:
    gate = asyncio.Event()
    steps: list[list[Any]] = [["report", "a"], ["call", "gate"], ["report", "b"], ["return", 1]]
    run = start(backend, *steps, gate=gate.wait)
    seen = []
    async for value in run.stream():
        seen.append((value, run.running))
        gate.set()
    assert [value for value, _ in seen] == ["a", "b"]
    assert seen[0] == ("a", True)
    assert [value async for value in run.stream()] == ["a", "b"]


async def test_two_can_stream_one_run(backend: Backend) -> None:
    run = start(backend, ["report", 1], ["report", 2], ["return", None])

    async def all_of_it() -> list[Any]:
        return [value async for value in run.stream()]

    assert list(await asyncio.gather(all_of_it(), all_of_it())) == [[1, 2], [1, 2]]


async def test_a_failure_is_a_result_too(backend: Backend) -> None:
    result = await start(backend, ["throw", "no"])
    assert result.error is not None
    assert (result.status, result.error.message) == ("error", "no")


async def test_its_memory_is_known_at_the_end(backend: Backend) -> None:
    run = start(backend, ["return", 1])
    result = await run
    assert run.memory_used_bytes == result.memory_used_bytes
    assert result.memory_used_bytes


async def test_its_repr_says_how_far_it_is(backend: Backend) -> None:
    run = start(backend, ["report", 1], ["loop"])
    async for _ in run.stream():
        assert repr(run) == "<CodeExecution running, 1 reports>"
        run.terminate()
    assert repr(run) == "<CodeExecution terminated, 1 reports>"


def test_users_see_nothing_of_the_listener(backend: Backend) -> None:
    run = start(backend, ["return", 1])
    run.wait(SECONDS)
    public = {name for name in dir(run) if not name.startswith("_")}
    handle = {"running", "started", "terminate", "terminate_after", "wait", "stream"}
    handle |= {"send", "throw", "close"}  # of a coroutine
    of_code = {"reports", "logs", "calls", "memory_used_bytes", "duration_ms", "filename"}
    assert public == handle | of_code
    assert {name for name in dir(Execution) if not name.startswith("_")} == handle
