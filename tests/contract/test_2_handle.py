"""Section 2: the handle."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator
from typing import Any

import pytest

from sandbox_kernel import Engine, run_code
from tests.processes import processor_seconds
from tests.waiting import until

LOOP = "for (;;);"


async def test_2_2_the_handle_is_awaitable_and_gives_the_result() -> None:
    result = await run_code("export default 6 * 7")
    assert (result.status, result.result) == ("success", 42)


async def test_2_2_awaiting_twice_gives_the_same_result() -> None:
    run = run_code("export default {}")
    assert await run is await run


def test_2_2_wait_gives_the_result_without_an_event_loop() -> None:
    assert run_code("export default 'plain'").wait().result == "plain"


async def test_2_2_wait_on_a_running_loop_raises_and_says_to_await() -> None:
    run = run_code("export default 1")
    with pytest.raises(RuntimeError, match="await"):
        run.wait()
    assert (await run).result == 1


def test_2_2_a_run_awaited_on_another_loop_than_its_own_gives_its_result() -> None:
    run = run_code("export default 5")

    async def other_loop() -> object:
        return (await run).result

    assert asyncio.run(other_loop()) == 5
    assert asyncio.run(other_loop()) == 5


def test_2_2_wait_with_a_timeout_leaves_the_run_going() -> None:
    run = run_code(LOOP)
    with pytest.raises(TimeoutError):
        run.wait(0.05)
    assert run.running
    run.terminate()
    assert run.wait().status == "terminated"


def test_2_2_running_flips_once_the_run_has_settled() -> None:
    run = run_code(LOOP)
    assert run.running is True
    run.terminate()
    run.wait()
    assert run.running is False


def test_2_2_terminate_settles_with_the_reason_in_the_message() -> None:
    run = run_code(LOOP)
    run.terminate("30s budget")
    result = run.wait()
    assert result.status == "terminated"
    assert result.error is not None
    assert result.error.message == "30s budget"


def test_2_2_terminate_without_a_reason_says_who_did_it() -> None:
    run = run_code(LOOP)
    run.terminate()
    error = run.wait().error
    assert error is not None
    assert error.message == "terminated by the caller"


def test_2_2_only_the_first_terminate_counts() -> None:
    run = run_code(LOOP)
    run.terminate("first")
    run.terminate("second")
    error = run.wait().error
    assert error is not None
    assert error.message == "first"
    run.terminate("third")
    assert run.wait().error is error


def test_2_2_terminate_after_success_changes_nothing() -> None:
    run = run_code("export default 1")
    run.wait()
    run.terminate("late")
    assert run.wait().status == "success"


ENDLESS = {
    "a tight loop": LOOP,
    "a regular expression": "/^(a+)+$/.test('a'.repeat(100) + 'b')",
    "a long builtin": "Array.prototype.indexOf.call({ length: 2 ** 53 }, 1)",
    "bigint arithmetic": "for (;;) 3n ** 300000n;",
    "sorting": "for (;;) Array.from({ length: 1e5 }, Math.random).sort()",
    "endless microtasks": "const again = () => { Promise.resolve().then(again) }; again(); await never",
    "a catch-all loop": "for (;;) { try { for (;;); } catch {} finally { continue; } }",
    "a generator that never ends": "for (const x of (function* () { for (;;) yield 1 })());",
}


@pytest.fixture(scope="module")
def engine() -> Iterator[Engine]:
    with Engine(spares=1) as made:
        yield made


@pytest.mark.parametrize("name", ENDLESS)
def test_2_2_terminate_ends_what_computes_for_ever(name: str, engine: Engine) -> None:
    """It is seen to compute after it said that it began."""
    begun = threading.Event()
    source = f"const never = new Promise(() => {{}}); begun(); {ENDLESS[name]}"
    run = run_code(source, engine=engine, globals={"begun": begun.set})
    assert begun.wait(20)
    (worker,) = engine.processes().workers
    before = processor_seconds(worker)
    assert until(lambda: not run.running or processor_seconds(worker) >= before + 0.02)
    run.terminate("enough")
    result = run.wait(20)
    assert (result.status, result.error and result.error.message) == ("terminated", "enough")


def test_2_2_terminate_ends_the_wait_for_a_bridge_that_never_answers() -> None:
    begun = threading.Event()

    async def forever() -> None:
        begun.set()
        await asyncio.Event().wait()

    run = run_code("await forever()", globals={"forever": forever})
    assert begun.wait(20)
    run.terminate("enough")
    assert run.wait(20).status == "terminated"


async def test_2_2_terminate_works_from_another_thread_while_the_loop_waits() -> None:
    def stop(value: object) -> None:
        threading.Thread(target=run.terminate, args=["from a thread"]).start()

    run = run_code("report(1); for (;;);", report=stop)
    result = await run
    assert result.error is not None
    assert (result.error.message, result.reports) == ("from a thread", [1])


def test_2_2_a_synchronous_bridge_that_never_returns_does_not_block_terminate() -> None:
    entered, release = threading.Event(), threading.Event()

    def stuck() -> None:
        entered.set()
        release.wait(60)

    run = run_code("report('before'); stuck()", globals={"stuck": stuck}, report=lambda v: None)
    assert entered.wait(20)
    run.terminate("stuck")
    result = run.wait(5)
    release.set()
    assert result.status == "terminated"
    assert result.reports == ["before"]
    assert run_code("export default 'next'").wait(20).result == "next"


def test_2_2_a_run_terminated_at_once_settles() -> None:
    runs = [run_code(LOOP) for _ in range(40)]  # more than run at once: some are queued
    for run in runs:
        run.terminate("at once")
    assert {run.wait(30).status for run in runs} == {"terminated"}


async def test_2_2_reports_are_a_live_append_only_view() -> None:
    proceed = asyncio.Event()
    run = run_code(
        "report(1); report(2); await proceed(); report(3)",
        globals={"proceed": proceed.wait},
        report=lambda value: None,
        execute={"fn": "x"},
    )
    seen, stream = run.reports, run.stream()
    assert [await anext(stream), await anext(stream)] == [1, 2]
    assert list(seen) == [1, 2]
    assert not hasattr(seen, "append")
    with pytest.raises(TypeError):
        seen[0] = 9  # type: ignore[index]  # which is what must fail
    proceed.set()
    result = await run
    assert list(seen) == result.reports == [1, 2, 3]


async def test_2_2_what_was_reported_before_a_terminate_is_kept() -> None:
    run = run_code("report('kept'); for (;;);", report=lambda value: None)
    await anext(run.stream())
    run.terminate()
    assert (await run).reports == ["kept"]


async def test_2_2_a_time_budget_is_layered_by_the_caller() -> None:
    run = run_code(LOOP)
    budget = asyncio.get_running_loop().call_later(0.1, run.terminate, "0.1s budget")
    result = await run
    budget.cancel()
    assert result.error is not None
    assert result.error.message == "0.1s budget"


async def test_2_2_stream_yields_reports_as_they_come_and_ends_with_the_run() -> None:
    gate = asyncio.Event()
    run = run_code(
        "report('a'); await gate(); report('b')",
        globals={"gate": gate.wait},
        report=lambda value: None,
    )
    seen = []
    async for value in run.stream():
        seen.append((value, run.running))
        gate.set()
    assert [value for value, _ in seen] == ["a", "b"]
    assert seen[0][1] is True


async def test_2_3_the_example_of_the_contract_runs_as_printed() -> None:
    told: list[Any] = []

    async def read_file(path: str) -> str:
        return f"contents of {path}"

    async def get_message() -> str:
        return "my username is ada"

    result = await run_code(
        """
        import { readFile } from 'fs';
        import { report } from 'supervisor';
        const message = await getMessage();
        if (/username/.test(message)) {
          report({ topic: 'username', message });
        }
        export async function scan() {
          return { scanned: true };
        }
        """,
        {
            "execute": {"fn": "scan", "args": []},
            "imports": {
                "fs": {"readFile": read_file},
                "supervisor": {"report": told.append},
            },
            "globals": {"console": {"log": lambda *args: None}, "getMessage": get_message},
        },
    )
    assert (result.status, result.result) == ("success", {"scanned": True})
    assert told == [{"topic": "username", "message": "my username is ada"}]
