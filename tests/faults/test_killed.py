"""SIGKILL, from outside, at every stage. What was reported stays, the status is right, the next run works."""

from __future__ import annotations

import asyncio
import gc
import os
import signal
import subprocess
import sys
from contextlib import suppress
from typing import Any

import pytest

from sandbox_kernel import run_code
from sandbox_kernel.engine import Engine
from tests.faults.health import at_rest, descriptors, workers, works, zygote_of
from tests.processes import gone
from tests.waiting import until

STAGES = {
    "computing": "report(1); for (;;);",
    "awaiting_a_bridge": "report(1); await forever()",
    "reporting": "report(1); for (let i = 2;; i++) report(i)",
    "in_a_builtin": "report(1); await nothing(); Array.prototype.indexOf.call({ length: 2 ** 53 - 1 }, 1)",
    "compiling": "report(1); await import('./big.js')",
}


async def forever() -> None:
    await asyncio.Event().wait()


async def nothing() -> None:
    return None


def begin(engine: Engine, stage: str) -> Any:
    return run_code(
        STAGES[stage],
        engine=engine,
        report=lambda value: None,
        globals={"forever": forever, "nothing": nothing},
        modules={"./big.js": "(" * 300 + "1" + ")" * 300 + ";" + "a=1;" * 200_000},
        language="javascript",
    )


@pytest.mark.parametrize("stage", STAGES)
def test_killing_a_worker_is_a_crash(engine: Engine, stage: str) -> None:
    run = begin(engine, stage)
    assert until(lambda: run.reports)
    (worker,) = engine.processes().workers
    os.kill(worker, signal.SIGKILL)
    result = run.wait(30)
    assert (result.status, result.error.name) == ("error", "SandboxCrash")
    assert result.error.message == "the worker was ended by SIGKILL"
    assert result.reports == list(range(1, len(result.reports) + 1))
    assert works(engine)


def test_killing_a_worker_while_a_bridge_works_for_it(engine: Engine) -> None:
    """The bridge ends as it would have; its answer finds nobody."""
    done: list[bool] = []

    def kill_the_caller() -> str:
        (worker,) = engine.processes().workers
        os.kill(worker, signal.SIGKILL)
        done.append(until(lambda: gone(worker)))
        return "for nobody"

    run = run_code("report(1); bridge(); report(2)", engine=engine, report=lambda value: None,
                   globals={"bridge": kill_the_caller})  # fmt: skip
    result = run.wait(30)
    assert (result.status, result.reports, done) == ("error", [1], [True])
    assert works(engine)


def test_a_run_gets_another_worker_if_its_spare_was_killed(engine: Engine) -> None:
    """Spares die while nobody looks."""
    for _ in range(3):
        (spare,) = engine.processes().spares
        os.kill(spare, signal.SIGKILL)
        assert until(lambda: gone(spare))  # noqa: B023  # called at once
        assert works(engine)
        assert until(lambda: at_rest(engine))


def test_killing_a_worker_that_has_not_read_its_job_is_a_crash(engine: Engine) -> None:
    (spare,) = engine.processes().spares
    os.kill(spare, signal.SIGSTOP)
    run = run_code("export default 1", engine=engine)
    assert engine.processes().workers == (spare,)
    os.kill(spare, signal.SIGKILL)
    result = run.wait(30)
    assert (result.status, result.error and result.error.name) == ("error", "SandboxCrash")
    assert works(engine)


def test_killing_a_worker_at_any_moment_of_a_short_run_ends_it(engine: Engine) -> None:
    """It may die before, while or after it runs: the run ends either way."""
    ends = set()
    for _ in range(20):
        run = run_code("export default 1", engine=engine)
        for worker in engine.processes().workers:
            with suppress(ProcessLookupError):
                os.kill(worker, signal.SIGKILL)
        result = run.wait(30)
        ends.add((result.status, result.error.name if result.error else result.result))
    assert ends <= {("success", 1), ("error", "SandboxCrash")}
    assert works(engine)


@pytest.mark.parametrize("stage", ["computing", "awaiting_a_bridge", "reporting"])
def test_killing_the_zygote_kills_its_workers(engine: Engine, stage: str) -> None:
    runs = [begin(engine, stage) for _ in range(3)]
    assert until(lambda: all(run.reports for run in runs))
    zygote, workers = zygote_of(engine), engine.processes().workers
    assert len(workers) == 3
    os.kill(zygote, signal.SIGKILL)
    for run in runs:
        result = run.wait(30)
        assert (result.status, result.error.name) == ("error", "SandboxCrash")
        assert result.reports == list(range(1, len(result.reports) + 1))
    assert until(lambda: all(map(gone, workers)))
    assert works(engine)


def test_killing_the_zygote_again_and_again_grows_nothing(engine: Engine) -> None:
    before = descriptors(engine)
    for _ in range(5):
        killed = zygote_of(engine)
        os.kill(killed, signal.SIGKILL)
        assert until(lambda: engine.processes().zygote != killed)  # noqa: B023  # called at once
        assert works(engine)
    assert until(lambda: descriptors(engine) <= before)


def test_runs_that_wait_for_a_worker_outlive_the_zygote() -> None:
    """It is stopped, so that it forks nothing; the next zygote serves them all."""
    with Engine(spares=0, concurrency=64) as engine:
        engine.warm_up()
        zygote = zygote_of(engine)
        os.kill(zygote, signal.SIGSTOP)
        runs = [run_code(f"export default {n}", engine=engine) for n in range(30)]
        assert engine.processes().workers == ()
        os.kill(zygote, signal.SIGKILL)
        assert [run.wait(30).result for run in runs] == list(range(30))
        assert engine.processes().zygote != zygote


HOST = """
import signal, threading
from sandbox_kernel import Engine, run_code
signal.signal(signal.SIGINT, signal.default_int_handler)  # shells have background jobs ignore it
engine = Engine()
begun = threading.Semaphore(0)
source, report = "report(1); for (;;);", lambda value: begun.release()
runs = [run_code(source, engine=engine, report=report) for _ in range(3)]
for _ in runs: begun.acquire()
print(engine.processes().zygote, *engine.processes().workers, flush=True)
threading.Event().wait(60)
"""


def closed_as_soon_as_it_is_over(engine: Engine) -> None:
    """A run whose loop is closed in the turn that settles it."""
    loop = asyncio.new_event_loop()

    async def start() -> Any:
        return run_code("export default 1", engine=engine)

    run = loop.run_until_complete(start())
    while run.running:
        loop.stop()
        loop.run_forever()  # one turn
    loop.close()
    assert run.wait(0).result == 1


def test_a_loop_that_is_closed_as_soon_as_it_has_the_result_leaves_no_worker() -> None:
    with Engine(spares=0) as engine:
        closed_as_soon_as_it_is_over(engine)
        assert until(lambda: not workers(engine))


def test_a_loop_that_is_closed_as_soon_as_it_has_the_result_leaves_no_descriptor() -> None:
    with Engine(spares=0) as engine:
        engine.warm_up()
        before = descriptors()
        gc.disable()
        try:
            closed_as_soon_as_it_is_over(engine)
            assert until(lambda: descriptors() <= before, seconds=2)
        finally:
            gc.enable()


def test_a_worker_is_dead_when_its_result_is_known() -> None:
    """Even if whoever waits for the result blocks the loop from then on."""

    async def main(engine: Engine) -> None:
        await run_code("export default 1", engine=engine)
        assert until(lambda: not workers(engine))

    with Engine(spares=0) as engine:
        asyncio.run(main(engine))


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM, signal.SIGINT])
def test_killing_the_host_leaves_no_process_behind(number: signal.Signals) -> None:
    host = subprocess.Popen([sys.executable, "-c", HOST], stdout=subprocess.PIPE, text=True,
                            stderr=subprocess.DEVNULL)  # fmt: skip
    assert host.stdout is not None
    with host.stdout:
        family = [int(pid) for pid in host.stdout.readline().split()]
    assert len(family) == 4
    host.send_signal(number)
    assert host.wait(30) != 0
    assert until(lambda: all(map(gone, family)))
