"""The queue of an engine: who waits, how many, how long, and what the wait does not count for."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Iterator
from typing import Any

import pytest

from sandbox_kernel import CodeExecution, Engine, EngineBusyError, run_code
from tests.waiting import eventually, until

LOOP = "for (;;);"
SECONDS = 30


@pytest.fixture
def narrow() -> Iterator[Engine]:
    """One run at a time."""
    with Engine(spares=1, concurrency=1) as engine:
        yield engine


def test_a_run_in_the_queue_has_not_started(narrow: Engine) -> None:
    first, second = run_code(LOOP, engine=narrow), run_code("export default 2", engine=narrow)
    assert until(lambda: first.started)
    assert not second.started
    assert repr(second) == "<CodeExecution queued, 0 reports>"
    time.sleep(0.02)  # which it spends in the queue
    first.terminate()
    result = second.wait(SECONDS)
    assert (result.result, second.started) == (2, True)
    assert 20 <= result.queued_ms <= result.duration_ms


def test_a_run_that_never_executed_was_queued_for_all_its_time(narrow: Engine) -> None:
    first, second = run_code(LOOP, engine=narrow), run_code(LOOP, engine=narrow)
    second.terminate()
    result = second.wait(SECONDS)
    assert (second.started, result.queued_ms) == (False, result.duration_ms)
    first.terminate()


def test_the_wait_in_the_queue_is_not_part_of_the_budget(narrow: Engine) -> None:
    first = run_code(LOOP, engine=narrow)
    second = run_code("export default 2", engine=narrow).terminate_after(1)
    time.sleep(1.1)  # more than the budget
    first.terminate()
    assert second.wait(SECONDS).result == 2


def test_beyond_max_queued_run_code_raises(narrow: Engine) -> None:
    narrow.max_queued = 2
    runs = [run_code(LOOP, engine=narrow) for _ in range(3)]
    with pytest.raises(EngineBusyError, match="1 runs execute and 2 wait; try again later"):
        run_code("export default 1", engine=narrow)
    assert (narrow.executing, narrow.queued) == (1, 2)
    runs[1].terminate()
    assert until(lambda: narrow.queued == 1)
    last = run_code("export default 4", engine=narrow)
    narrow.terminate_all()
    assert {run.wait(SECONDS).status for run in (*runs, last)} == {"terminated"}


def test_a_refused_run_leaves_nothing_behind(narrow: Engine) -> None:
    narrow.max_queued = 0
    first = run_code(LOOP, engine=narrow)

    async def lent() -> None:
        """Never awaited, and Python would warn about it."""

    with pytest.raises(EngineBusyError):
        run_code("1", engine=narrow, globals={"promise": lent()})
    assert len(narrow.runs()) == 1
    first.terminate()
    assert run_code("export default 1", engine=narrow).wait(SECONDS).result == 1


def test_without_a_queue_nothing_waits(narrow: Engine) -> None:
    narrow.max_queued = 0
    assert run_code("export default 1", engine=narrow).wait(SECONDS).result == 1
    first = run_code(LOOP, engine=narrow)
    with pytest.raises(EngineBusyError, match="1 runs execute and 0 wait"):
        run_code("export default 2", engine=narrow)
    first.terminate()


def test_nested_runs_do_not_fill_the_queue_of_others(narrow: Engine) -> None:
    """A guest whose bridge starts runs may have as many of its own wait, beside everybody's queue."""
    narrow.max_queued = 1
    busy: list[BaseException] = []
    others: list[CodeExecution] = []

    def start_another() -> None:
        others.append(run_code("export default 'other'", engine=narrow))

    async def inner() -> None:
        runs = []
        for _ in range(3):  # one executes in the extra place, one waits, one is too many
            try:
                runs.append(run_code("export default 1", engine=narrow))
            except EngineBusyError as error:
                busy.append(error)
        thread = threading.Thread(target=start_another)  # knows nothing of the run that calls it
        thread.start()
        thread.join()
        await asyncio.gather(*runs)

    outer = run_code("await inner()\nexport default 1", engine=narrow, globals={"inner": inner})
    assert outer.wait(SECONDS).status == "success", outer.wait().error
    assert len(busy) == 1
    assert others[0].wait(SECONDS).result == "other"


def test_queue_seconds_ends_the_wait(narrow: Engine) -> None:
    narrow.queue_seconds = 0.05
    first, second = run_code(LOOP, engine=narrow), run_code(LOOP, engine=narrow)
    result = second.wait(SECONDS)
    assert result.error is not None
    assert result.status == "terminated"
    assert result.error.message == "it waited 0.05 s in the queue (Engine.queue_seconds)"
    assert first.running
    first.terminate()


def test_queue_seconds_does_not_bound_what_executes(narrow: Engine) -> None:
    narrow.queue_seconds = 1
    first = run_code(LOOP, engine=narrow)
    second = run_code("await hold(); export default 2", engine=narrow, globals={"hold": _hold})
    first.terminate()
    assert second.wait(SECONDS).result == 2  # after more time than it might have waited
    assert not narrow._pool._waits._alarms


async def _hold() -> None:
    await asyncio.sleep(1.1)  # longer than it may wait in the queue


def test_runs_lists_the_live_handles_oldest_first(narrow: Engine) -> None:
    assert narrow.runs() == []
    runs = [run_code(LOOP, engine=narrow, filename=f"{n}.ts") for n in range(4)]
    assert narrow.runs() == runs
    assert [run.filename for run in narrow.runs()] == ["0.ts", "1.ts", "2.ts", "3.ts"]
    runs[0].terminate()
    assert until(lambda: narrow.runs() == runs[1:])
    narrow.terminate_all("enough")
    for run in runs[1:]:
        error = run.wait(SECONDS).error
        assert error is not None
        assert error.message == "enough"
    assert until(lambda: narrow.runs() == [])


def test_a_listed_handle_can_be_let_go_of(narrow: Engine) -> None:
    run = run_code("await hold(); export default 1", engine=narrow, globals={"hold": _hold})
    assert [each.running for each in narrow.runs()] == [True]
    assert run.wait(SECONDS).result == 1


async def test_ten_time_outs_in_a_row_leave_ten_free_places() -> None:
    with Engine(spares=1, concurrency=10) as engine:
        for _ in range(10):
            with pytest.raises(TimeoutError):
                await asyncio.wait_for(run_code(LOOP, engine=engine), 0.05)
        assert await eventually(lambda: engine.executing == 0)
        assert engine.processes().workers == ()
        results = await asyncio.gather(
            *(run_code("export default 1", engine=engine) for _ in range(10))
        )
        assert [result.result for result in results] == [1] * 10


async def test_time_outs_in_the_queue_leave_no_entry(narrow: Engine) -> None:
    first = run_code(LOOP, engine=narrow)
    for _ in range(5):
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(run_code(LOOP, engine=narrow), 0.01)
    assert (narrow.executing, narrow.queued) == (1, 0)
    first.terminate()
    await first


async def test_good_requests_do_not_die_behind_endless_ones() -> None:
    """Fifty requests, ten of them endless loops; together these take longer than a good one may."""
    with Engine(spares=1, concurrency=1) as engine:

        async def serve(number: int) -> Any:
            if number % 5 == 0:
                return await run_code(LOOP, engine=engine).terminate_after(0.3)
            return await run_code(f"export default {number}", engine=engine).terminate_after(2)

        results = await asyncio.gather(*(serve(number) for number in range(50)))
    endless = results[::5]
    assert {result.status for result in endless} == {"terminated"}
    assert {result.error.message for result in endless} == {"0.3s budget"}
    assert results[-1].queued_ms > 2000
    good = [result.result for number, result in enumerate(results) if number % 5]
    assert good == [number for number in range(50) if number % 5]


def test_a_loop_that_closes_ends_its_runs_without_another_run() -> None:
    with Engine(spares=1) as engine:

        async def begin() -> Any:
            run = run_code("report(1); for (;;);", engine=engine, report=lambda value: None)
            await anext(run.stream())
            return run

        run = asyncio.run(begin())
        result = run.wait(SECONDS)
        assert (result.status, result.error and result.error.message) == ("terminated", "cancelled")
        assert engine.executing == 0
