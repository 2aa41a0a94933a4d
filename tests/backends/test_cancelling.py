"""Cancelling whoever awaits a run terminates it, unless somebody else awaits it too."""

from __future__ import annotations

import asyncio
import gc
import signal
import threading
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from sandbox_kernel import CodeExecution, CodeExecutionResult, run_code
from sandbox_kernel.backend import Backend
from tests.backends.script import script
from tests.waiting import eventually, until

SECONDS = 20
SOON = 0.02


def ignore(_value: Any) -> None:
    """A sink, so that the guest may report."""


def start(backend: Backend, *steps: list[Any], **lent: Any) -> CodeExecution:
    return run_code(script(*steps), engine=backend, report=ignore, globals=lent)


def endless(backend: Backend) -> CodeExecution:
    return start(backend, ["report", "begun"], ["loop"])


async def begun(run: CodeExecution) -> None:
    """Until it has said so; this iteration is over then."""
    assert await eventually(lambda: len(run.reports) == 1)


def assert_cancelled(result: CodeExecutionResult) -> None:
    assert result.error is not None
    assert (result.status, result.error.message) == ("terminated", "cancelled")


async def by_wait_for(run: CodeExecution) -> None:
    with pytest.raises(TimeoutError):
        await asyncio.wait_for(run, SOON)


async def by_timeout(run: CodeExecution) -> None:
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(SOON):
            await run


async def by_cancelling_a_task(run: CodeExecution) -> None:
    async def body() -> CodeExecutionResult:
        return await run

    await cancel(asyncio.create_task(body()))


async def by_cancelling_the_handle_as_a_task(run: CodeExecution) -> None:
    await cancel(asyncio.create_task(run))


async def by_cancelling_a_task_before_its_first_step(run: CodeExecution) -> None:
    task = asyncio.create_task(run)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task


async def by_a_sibling_that_fails(run: CodeExecution) -> None:
    async def fail() -> None:
        await asyncio.sleep(SOON)
        raise ZeroDivisionError

    async def both() -> None:
        async with asyncio.TaskGroup() as group:
            group.create_task(run)
            group.create_task(fail())

    with pytest.raises(ExceptionGroup):
        await both()


async def by_cancelling_a_gather(run: CodeExecution) -> None:
    await cancel(asyncio.gather(run, asyncio.sleep(SECONDS)))


async def by_cancelling_a_stream(run: CodeExecution) -> None:
    async def body() -> list[Any]:
        return [value async for value in run.stream()]

    await cancel(asyncio.create_task(body()))


async def cancel(task: asyncio.Future[Any]) -> None:
    await asyncio.sleep(SOON)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task


WAYS: list[Callable[[CodeExecution], Awaitable[None]]] = [
    by_wait_for,
    by_timeout,
    by_cancelling_a_task,
    by_cancelling_the_handle_as_a_task,
    by_cancelling_a_task_before_its_first_step,
    by_a_sibling_that_fails,
    by_cancelling_a_gather,
    by_cancelling_a_stream,
]


@pytest.mark.parametrize("way", WAYS)
async def test_cancelling_terminates(
    backend: Backend, way: Callable[[CodeExecution], Awaitable[None]]
) -> None:
    run = endless(backend)
    await begun(run)
    await way(run)
    assert_cancelled(await run)


@pytest.mark.parametrize("way", WAYS)
async def test_a_run_that_somebody_else_awaits_goes_on(
    backend: Backend, way: Callable[[CodeExecution], Awaitable[None]]
) -> None:
    gate = asyncio.Event()
    run = start(backend, ["report", "begun"], ["call", "gate"], ["return", 1], gate=gate.wait)
    await begun(run)
    other = asyncio.ensure_future(run)
    await asyncio.sleep(0)
    await way(run)
    gate.set()
    assert (await other).result == 1


async def test_a_thread_in_wait_counts(backend: Backend) -> None:
    gate = asyncio.Event()
    run = start(backend, ["call", "gate"], ["return", 1], gate=gate.wait)
    waiting = asyncio.create_task(asyncio.to_thread(run.wait, SECONDS))
    assert await eventually(lambda: run._transcript._end_wakers)
    await by_wait_for(run)
    gate.set()
    assert (await waiting).result == 1


async def test_an_iteration_of_its_stream_counts_also_while_it_handles_an_item(
    backend: Backend,
) -> None:
    gate = asyncio.Event()
    steps: list[list[Any]] = [["report", 1], ["call", "gate"], ["report", 2], ["return", None]]
    run = start(backend, *steps, gate=gate.wait)
    seen = []
    async for value in run.stream():
        seen.append(value)
        if value == 1:
            await by_wait_for(run)
            gate.set()
    assert seen == [1, 2]


async def test_leaving_a_stream_early_does_not_terminate(backend: Backend) -> None:
    gate = asyncio.Event()
    run = start(backend, ["report", 1], ["call", "gate"], ["return", 7], gate=gate.wait)
    async for _ in run.stream():
        break
    await asyncio.sleep(SOON)
    gate.set()
    assert (await run).result == 7


async def test_one_who_was_shielded_still_gets_the_result(backend: Backend) -> None:
    gate = asyncio.Event()
    run = start(backend, ["call", "gate"], ["return", 3], gate=gate.wait)
    inner = asyncio.ensure_future(run)
    with pytest.raises(TimeoutError):
        await asyncio.wait_for(asyncio.shield(inner), SOON)
    gate.set()
    assert (await inner).result == 3


async def test_a_task_group_takes_the_handle_itself(backend: Backend) -> None:
    async with asyncio.TaskGroup() as group:
        tasks = [group.create_task(start(backend, ["return", n])) for n in range(5)]
    assert [task.result().result for task in tasks] == [0, 1, 2, 3, 4]


async def test_two_tasks_may_drive_one_handle(backend: Backend) -> None:
    run = start(backend, ["return", 1])
    one, two = asyncio.create_task(run), asyncio.create_task(run)
    assert await one is await two is await run


def test_asyncio_run_takes_the_handle_itself(backend: Backend) -> None:
    assert asyncio.run(start(backend, ["return", 9])).result == 9


async def test_a_handle_that_nobody_holds_any_more_ends_its_run(backend: Backend) -> None:
    results: list[Any] = []
    run = endless(backend)
    await begun(run)
    transcript = run._transcript
    transcript.wake_at_end(lambda: results.append(transcript.result))
    del run
    gc.collect()
    assert await eventually(lambda: results)
    assert_cancelled(results[0])


def test_a_handle_without_a_loop_that_nobody_holds_ends_its_run(backend: Backend) -> None:
    transcript = endless(backend)._transcript  # the handle itself is gone at once
    gc.collect()
    assert until(lambda: transcript.result)
    assert transcript.result is not None
    assert_cancelled(transcript.result)


async def test_a_handle_in_a_cycle_of_garbage_ends_its_run(backend: Backend) -> None:
    run = endless(backend)
    holder: dict[str, Any] = {"run": run}
    holder["self"] = holder
    transcript = run._transcript
    del run, holder
    gc.collect()
    assert await eventually(lambda: transcript.result)
    assert transcript.result is not None
    assert_cancelled(transcript.result)


async def test_awaiting_it_keeps_a_handle_alive(backend: Backend) -> None:
    async def body() -> CodeExecutionResult:
        return await start(backend, ["call", "collect"], ["return", 4], collect=collect)

    async def collect() -> None:
        gc.collect()
        await asyncio.sleep(0)

    assert (await body()).result == 4


def test_a_keyboard_interrupt_in_wait_terminates(backend: Backend) -> None:
    run = endless(backend)
    main = threading.main_thread().ident
    assert main == threading.get_ident()

    def interrupt() -> None:
        assert until(lambda: run._transcript._end_wakers)
        signal.pthread_kill(main, signal.SIGINT)

    thread = threading.Thread(target=interrupt)
    thread.start()
    with pytest.raises(KeyboardInterrupt):
        run.wait()
    thread.join()
    assert_cancelled(run.wait(SECONDS))


async def test_closing_the_coroutine_terminates_it(backend: Backend) -> None:
    run = endless(backend)
    run.close()
    assert_cancelled(await run)
    run.close()
