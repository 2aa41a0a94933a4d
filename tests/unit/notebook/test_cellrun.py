"""A cell as a run, with real runs and an output that remembers."""

from __future__ import annotations

import asyncio
import threading
import time
from typing import Any

import pytest

from sandbox_kernel import Engine, run_code
from sandbox_kernel.clock import clock
from sandbox_kernel.contract import CodeExecutionLog
from sandbox_kernel.errors import SandboxError
from sandbox_kernel.notebook.cellrun import CellRun
from sandbox_kernel.notebook.earlier import EarlierCells
from sandbox_kernel.notebook.interrupts import Guard
from sandbox_kernel.notebook.options.grammar import parse_options


class Remembered:
    """An `Output`."""

    def __init__(self, page: bool = True) -> None:
        self.display = self._display if page else None
        self.logs: list[Any] = []
        self.reports: list[Any] = []
        self.entered = 0
        self.cuts = 0
        self.ends = 0
        self.shown: list[str] = []
        self.said = threading.Event()

    def log(self, log: CodeExecutionLog) -> None:
        self.logs.append(log.args[0])
        self.said.set()

    def report(self, value: Any) -> None:
        self.reports.append(value)
        self.said.set()

    def show(self, display: dict[str, Any]) -> None: ...

    def enter(self) -> None:
        self.entered += 1

    def cut(self) -> None:
        self.cuts += 1

    def end(self) -> None:
        self.ends += 1

    def _display(self, bundle: dict[str, Any], display_id: str, update: bool) -> None:
        self.shown.append(bundle["text/plain"])


def cell(source: str, line: str = "", output: Remembered | None = None, **lent: Any) -> CellRun:
    options = parse_options(line, "magic")
    return CellRun(
        source,
        options,
        {**options.run_options(lambda source: None), "globals": lent},
        number=7,
        face="magic",
        guard=Guard(lambda: None),
        output=output or Remembered(),
        earlier=EarlierCells(),
        classes={},
    )


async def test_the_result_comes_out_and_the_rest_goes_to_the_output() -> None:
    output = Remembered()
    run = cell("console.log('x'); report(1); f() + 1", output=output, f=lambda: 41)
    result = await run.run()
    assert run.finish(result) is None
    assert (result.result, output.logs, output.reports, output.entered) == (42, ["x"], [1], 1)
    assert output.shown[-1].endswith("[0] 1")


async def test_a_short_quiet_cell_shows_no_view() -> None:
    output = Remembered()
    run = cell("1 + 1", output=output)
    result = await run.run()
    run.finish(result)
    assert output.shown == [] or result.duration_ms > 500


@pytest.mark.parametrize("line", ["--no-widget", "--raw"])
async def test_no_view_where_none_is_wanted(line: str) -> None:
    output = Remembered()
    run = cell("report(1)", line, output)
    run.finish(await run.run())
    assert output.shown == []


async def test_no_view_where_there_is_no_page() -> None:
    run = cell("report(1)", output=Remembered(page=False))
    assert run.finish(await run.run()) is None


async def test_the_view_is_shown_while_a_bridge_blocks_the_loop() -> None:
    output, seen = Remembered(), list[str]()

    def block() -> None:
        limit = time.monotonic() + 20
        while not output.shown and time.monotonic() < limit:
            time.sleep(0.01)
        seen.extend(output.shown)

    run = cell("block()", output=output, block=block)
    run.finish(await run.run())
    assert seen == ["", "Run: still running when this was saved"]


@pytest.mark.parametrize(
    ("line", "filename"),
    [("", "cell-7.ts"), ("--language javascript", "cell-7.js"), ("--filename a.ts", "a.ts")],
)
async def test_a_cell_is_named_by_its_number(line: str, filename: str) -> None:
    run = cell("\nmissing()", line)
    traceback = run.finish(await run.run())
    assert traceback is not None
    assert traceback.name == "ReferenceError"
    assert f"  {filename}:2:1" in traceback.lines


async def test_a_deadline_holds_even_if_a_bridge_blocks_the_loop() -> None:
    output = Remembered()
    run = cell("nap()", "--deadline 50ms", output, nap=lambda: time.sleep(60))
    with run.interruptible():
        result = await run.run()
    traceback = run.finish(result)
    assert traceback is not None
    assert (traceback.name, traceback.message) == ("terminated", "50ms budget")
    assert output.cuts == 1


async def test_a_deadline_does_not_count_the_wait_in_the_queue() -> None:
    engine = Engine.instance()
    before, engine.concurrency = engine.concurrency, 1
    try:
        first = run_code("for (;;);")
        run = cell("await 0; 7", "--deadline 1s")
        waiting = asyncio.create_task(run.run())
        await asyncio.sleep(1.1)  # longer than the deadline
        first.terminate()
        result = await waiting
    finally:
        engine.concurrency = before
    assert run.finish(result) is None
    assert (result.result, result.queued_ms > 1000) == (7, True)


async def test_a_run_that_ended_in_time_is_not_stopped_by_its_deadline() -> None:
    output, later = Remembered(), threading.Event()
    run = cell("1", "--deadline 1s", output)
    result = await run.run()
    run.finish(result)
    clock.after(1.0, later.set)  # due after the deadline
    assert await asyncio.to_thread(later.wait, 20)
    assert (result.status, output.cuts) == ("success", 0)


def test_it_runs_without_a_loop_too() -> None:
    output = Remembered()
    run = cell("report(1); await later(5)", output=output, later=_later)
    assert run.finish(run.start().wait(20)) is None
    assert output.shown[-1].endswith("[0] 1")


async def _later(value: int) -> int:
    await asyncio.sleep(0)
    return value


async def test_the_first_reason_to_stop_counts() -> None:
    output = Remembered()
    run = cell("report(1); for (;;) {}", output=output)
    execution = run.start()
    await asyncio.to_thread(output.said.wait, 20)
    run.stop("interrupted")
    run.stop("cancelled")
    traceback = run.finish(await execution)
    assert traceback is not None
    assert traceback.lines[0] == "terminated: interrupted"
    assert output.cuts == 1


async def test_a_cell_that_was_stopped_before_it_began_ends_at_once() -> None:
    run = cell("for (;;) {}")
    run.stop("interrupted")
    assert (await run.run()).status == "terminated"


async def test_cancelling_whoever_waits_stops_the_run() -> None:
    output = Remembered()
    run = cell("report(1); for (;;) {}", output=output)
    waiting = asyncio.ensure_future(run.run())
    await asyncio.to_thread(output.said.wait, 20)
    waiting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waiting
    assert output.cuts == 1


def test_what_cannot_cross_is_raised_before_anything_runs() -> None:
    with pytest.raises(SandboxError, match=r"globals\.lock"):
        cell("1", lock=object()).start()
