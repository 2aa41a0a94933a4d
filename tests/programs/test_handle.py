"""The handle of a program: streams, terminating, cancelling, waiting, many at once."""

from __future__ import annotations

import asyncio
import time

import pytest

from sandbox_kernel.errors import EngineBusyError, EngineClosedError
from sandbox_kernel.programs import Programs
from sandbox_kernel.run import run_program

ENDLESS = "print('started', flush=True)\nwhile True: pass"


async def test_it_can_be_awaited_more_than_once(programs: Programs) -> None:
    handle = run_program("print(1)", engine=programs)
    assert handle.running
    first, second = await handle, await handle
    assert first is second
    assert (first.stdout, handle.running, handle.started) == ("1\n", False, True)


async def test_lines_arrive_while_it_runs_and_in_order(programs: Programs) -> None:
    code = """
import sys
for n in range(3):
    print('out', n)
    sys.stdin.readline()
    print('err', n, file=sys.stderr)
    sys.stdin.readline()
"""
    handle = run_program(code, stdin="\n" * 6, engine=programs)
    chunks = [chunk async for chunk in handle.stream()]
    result = await handle
    assert "".join(text for name, text in chunks if name == "stdout") == result.stdout
    assert "".join(text for _, text in chunks) == result.logs
    assert result.stderr == "err 0\nerr 1\nerr 2\n"


async def test_a_line_arrives_before_the_program_ends(programs: Programs) -> None:
    handle = run_program(ENDLESS, engine=programs)
    async for chunk in handle.stream():
        assert chunk == ("stdout", "started\n")
        assert handle.running
        handle.terminate("seen enough")
    result = await handle
    assert (result.killed, result.reason, result.exit_code) == (True, "seen enough", 137)
    assert result.stdout == "started\n"


async def test_terminating_without_a_reason_says_terminated(programs: Programs) -> None:
    handle = run_program(ENDLESS, engine=programs)
    handle.terminate()
    handle.terminate("again")
    result = await handle
    assert (result.killed, result.reason) == (True, "terminated")


async def test_a_budget_counts_from_the_start(programs: Programs) -> None:
    result = await run_program(ENDLESS, engine=programs).terminate_after(0.1)
    assert (result.killed, result.reason) == (True, "0.1s budget")


async def test_cancelling_terminates(programs: Programs) -> None:
    handle = run_program(ENDLESS, engine=programs)
    with pytest.raises(TimeoutError):
        await asyncio.wait_for(handle, 0.2)
    result = await handle
    assert (result.killed, result.reason) == (True, "cancelled")


def test_waiting_without_a_loop(programs: Programs) -> None:
    handle = run_program(ENDLESS, engine=programs)
    with pytest.raises(TimeoutError):
        handle.wait(0.05)
    handle.terminate("over")
    assert handle.wait(30).reason == "over"
    assert repr(handle) == "<ProgramExecution exit code 137>"


async def test_more_than_may_execute_wait_in_line(level: str) -> None:
    with Programs(isolation=level, spares=0, concurrency=1, max_queued=2) as narrow:
        first = run_program(ENDLESS, engine=narrow)
        waiting = [run_program(f"print({n})", engine=narrow) for n in range(2)]
        assert (narrow.executing, narrow.queued) == (1, 2)
        with pytest.raises(EngineBusyError, match="max_queued"):
            run_program("print(9)", engine=narrow)
        waiting[0].terminate("not wanted any more")
        dropped = await waiting[0]
        assert (dropped.killed, dropped.exit_code, waiting[0].started) == (True, 137, False)
        async for _ in first.stream():
            first.terminate()
        result = await waiting[1]
        assert result.stdout == "1\n"
        assert result.queued_ms > 0


async def test_fifty_at_once(programs: Programs) -> None:
    codes = [f"print({n})" for n in range(50)]
    results = await asyncio.gather(*(run_program(code, engine=programs) for code in codes))
    assert [result.stdout for result in results] == [f"{n}\n" for n in range(50)]


async def test_closing_ends_what_runs(level: str) -> None:
    with Programs(isolation=level, spares=0) as closing:
        handle = run_program(ENDLESS, engine=closing)
        async for _ in handle.stream():
            break
        closing.close()
        with pytest.raises(EngineClosedError):
            await handle
        with pytest.raises(EngineClosedError):
            run_program("print(1)", engine=closing)


def test_a_program_of_the_default_programs() -> None:
    began = time.perf_counter()
    result = run_program("print('hello')").wait(60)
    assert (result.stdout, result.exit_code) == ("hello\n", 0)
    assert 0 < result.duration_ms < (time.perf_counter() - began) * 1000
