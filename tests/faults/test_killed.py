"""SIGKILL, from outside, at every stage. What was reported stays, the status is right, the next run works."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
import time
from typing import Any

import psutil
import pytest

from sandbox_kernel import run_code
from sandbox_kernel.engine import Engine
from tests.faults.health import descriptors, until, workers, works

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
def test_a_worker(engine: Engine, stage: str) -> None:
    run = begin(engine, stage)
    assert until(lambda: len(run.reports) > 0)
    os.kill(run._active._worker.pid, signal.SIGKILL)
    result = run.wait(30)
    assert (result.status, result.error.name) == ("error", "SandboxCrash")
    assert result.error.message == "the worker was ended by SIGKILL"
    assert result.reports == list(range(1, len(result.reports) + 1))
    assert works(engine)


def test_a_worker_while_a_bridge_works_for_it(engine: Engine) -> None:
    """The bridge ends as it would have; its answer finds nobody."""
    done: list[int] = []

    def slow() -> str:
        os.kill(run._active._worker.pid, signal.SIGKILL)
        time.sleep(0.2)
        done.append(1)
        return "for nobody"

    run: Any = None
    holder: dict[str, Any] = {}

    def late() -> str:
        while "run" not in holder:
            time.sleep(0.01)
        return slow()

    run = run_code("report(1); late(); report(2)", engine=engine, globals={"late": late},
                   report=lambda value: None)  # fmt: skip
    holder["run"] = run
    result = run.wait(30)
    assert (result.status, result.reports, done) == ("error", [1], [1])
    assert works(engine)


def test_every_spare(engine: Engine) -> None:
    """They die while nobody looks; the run that would have got one gets another."""
    for _ in range(3):
        for worker in list(engine._spares):
            os.kill(worker.pid, signal.SIGKILL)
        assert until(lambda: not workers(engine))
        assert works(engine)
        assert until(lambda: len(engine._spares) >= 1)


def test_a_worker_the_moment_it_is_given_a_job(engine: Engine) -> None:
    """It may die before, while or after it reads the job: the run ends either way."""
    ends = set()
    for _ in range(20):
        run = run_code("export default 1", engine=engine)
        worker = run._active._worker if run._active else None
        if worker is not None:
            worker.kill()
        result = run.wait(30)
        ends.add((result.status, result.error.name if result.error else None))
    assert ends <= {("success", None), ("error", "SandboxCrash")}
    assert works(engine)


@pytest.mark.parametrize("stage", ["computing", "awaiting_a_bridge", "reporting"])
def test_the_zygote_takes_its_workers_with_it(engine: Engine, stage: str) -> None:
    runs = [begin(engine, stage) for _ in range(3)]
    assert until(lambda: all(len(run.reports) > 0 for run in runs))
    living = [psutil.Process(run._active._worker.pid) for run in runs]
    os.kill(engine._zygote.pid, signal.SIGKILL)
    for run in runs:
        result = run.wait(30)
        assert (result.status, result.error.name) == ("error", "SandboxCrash")
        assert result.reports == list(range(1, len(result.reports) + 1))
    assert until(lambda: not any(process.is_running() for process in living))
    assert works(engine)


def test_the_zygote_again_and_again(engine: Engine) -> None:
    before = descriptors(engine)
    for _ in range(5):
        killed = engine._zygote
        os.kill(killed.pid, signal.SIGKILL)
        assert until(lambda: engine._zygote is not killed)  # noqa: B023  # called before the next turn
        assert works(engine)
    assert until(lambda: descriptors(engine) <= before + 4)


def test_the_zygote_while_runs_wait_for_a_worker() -> None:
    with Engine(spares=0, concurrency=64) as engine:
        engine.warm_up()
        runs = [run_code(f"export default {n}", engine=engine) for n in range(30)]
        os.kill(engine._zygote.pid, signal.SIGKILL)
        for n, run in enumerate(runs):
            result = run.wait(30)
            assert result.status == "error" or result.result == n
        assert works(engine)


HOST = """
import sys, time
from sandbox_kernel import run_code
from sandbox_kernel.engine import Engine
engine = Engine()
runs = [run_code("report(1); for (;;);", engine=engine, report=int) for _ in range(3)]
while not all(run.reports for run in runs): time.sleep(.01)
print(engine._zygote.pid, flush=True)
time.sleep(60)
"""


def test_a_loop_that_is_closed_as_soon_as_it_has_the_result_leaves_no_worker() -> None:
    loop = asyncio.new_event_loop()
    with Engine(spares=0) as engine:
        before = descriptors()

        async def start() -> Any:
            return run_code("export default 1", engine=engine)

        run = loop.run_until_complete(start())
        while run.running:
            loop.stop()
            loop.run_forever()  # one turn
        loop.close()
        assert run._result.result == 1
        assert until(lambda: not workers(engine))
        del run
        assert until(lambda: descriptors() <= before)


def test_a_worker_is_dead_when_its_result_is_known() -> None:
    """Even if whoever waits for the result blocks the loop from then on."""

    async def main(engine: Engine) -> None:
        await run_code("export default 1", engine=engine)
        assert until(lambda: not workers(engine), seconds=5)

    with Engine(spares=0) as engine:
        asyncio.run(main(engine))


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM, signal.SIGINT])
def test_the_host_leaves_no_process_behind(number: signal.Signals) -> None:
    host = subprocess.Popen([sys.executable, "-c", HOST], stdout=subprocess.PIPE, text=True,
                            stderr=subprocess.DEVNULL)  # fmt: skip
    assert host.stdout is not None
    with host.stdout:
        zygote = psutil.Process(int(host.stdout.readline()))
    family = [zygote, *zygote.children()]
    assert len(family) >= 4
    host.send_signal(number)
    host.wait(30)
    gone = lambda p: not p.is_running() or p.status() == psutil.STATUS_ZOMBIE  # noqa: E731  # it is used right below
    assert until(lambda: all(gone(process) for process in family))
