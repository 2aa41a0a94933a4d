"""The ground under a run gives way: its event loop is closed, its process forks, its time jumps."""

from __future__ import annotations

import asyncio
import os
import signal
import time
from typing import Any

import psutil

from sandbox_kernel import run_code
from sandbox_kernel.engine import Engine
from tests.faults.health import until, workers, works


def test_a_loop_closed_under_its_run(engine: Engine) -> None:
    async def begin() -> Any:
        run = run_code("report(1); for (;;);", engine=engine, report=lambda value: None)
        while not run.reports:
            await asyncio.sleep(0.01)
        return run

    run = asyncio.run(begin())
    worker = psutil.Process(run._active._worker.pid)
    assert works(engine)  # the next run finds the orphan, and ends it
    result = run.wait(30)
    assert (result.status, result.reports) == ("terminated", [1])
    assert result.error.message == "the event loop of this run was closed"
    assert until(lambda: not worker.is_running() or worker.status() == psutil.STATUS_ZOMBIE)


def test_a_loop_closed_while_a_worker_is_on_its_way() -> None:
    with Engine(spares=0) as engine:
        loop = asyncio.new_event_loop()

        async def begin() -> Any:
            return run_code("for (;;);", engine=engine)

        run = loop.run_until_complete(begin())
        assert until(lambda: len(workers(engine)) == 1)
        loop.close()
        assert works(engine)
        assert run.wait(30).status == "terminated"
        assert until(lambda: not workers(engine))


def test_loops_closed_with_many_runs_queued() -> None:
    with Engine(spares=1, concurrency=2) as engine:

        async def begin() -> list[Any]:
            runs = [run_code("await 1; for (;;);", engine=engine) for _ in range(10)]
            await asyncio.sleep(0.1)
            return runs

        runs = asyncio.run(begin())
        assert works(engine)
        assert {run.wait(30).status for run in runs} == {"terminated"}
        assert works(engine)
        assert until(lambda: len(workers(engine)) <= 2)


def test_a_run_terminated_after_its_loop_is_gone(engine: Engine) -> None:
    async def begin() -> Any:
        return run_code("for (;;);", engine=engine)

    run = asyncio.run(begin())
    run.terminate("late")
    result = run.wait(30)
    assert (result.status, result.error.message) == ("terminated", "late")
    assert works(engine)


def test_a_fork_of_the_host(engine: Engine) -> None:
    """The child has an engine of its own from the first run on; the parent's is untouched."""
    run = run_code("report(1); await forever()", engine=engine, report=lambda value: None,
                   globals={"forever": _forever})  # fmt: skip
    assert until(lambda: len(run.reports) > 0)
    child = os.fork()
    if not child:
        code = 1
        try:
            code = 0 if works(engine) and works() else 2
            engine.close()
        finally:
            os._exit(code)
    _, status = os.waitpid(child, 0)
    assert os.waitstatus_to_exitcode(status) == 0
    assert run.running
    assert works(engine)
    run.terminate("done")
    assert run.wait(30).status == "terminated"


def test_forks_while_runs_go_on(engine: Engine) -> None:
    runs = [run_code("export default 1", engine=engine) for _ in range(4)]
    children = []
    for _ in range(4):
        child = os.fork()
        if not child:
            os._exit(0)
        children.append(child)
    assert [run.wait(30).result for run in runs] == [1] * 4
    for child in children:
        os.waitpid(child, 0)
    assert works(engine)


async def _forever() -> None:
    await asyncio.Event().wait()


class Jumpy(asyncio.SelectorEventLoop):
    """A loop whose clock leaps hours ahead and back."""

    def time(self) -> float:
        return super().time() + (3600 if int(super().time() * 1000) % 2 else -3600)


def test_a_clock_that_jumps() -> None:
    async def main() -> list[Any]:
        crash = run_code("globalThis.x = 1; for (;;);")
        good = [
            await run_code("report(1); export default 1", report=lambda v: None) for _ in range(20)
        ]
        while crash._active is None or crash._active._worker is None:  # type: ignore[attr-defined]  # a Session
            await asyncio.sleep(0)
        os.kill(crash._active._worker.pid, signal.SIGKILL)  # type: ignore[attr-defined]  # a Session
        return [*good, await crash]

    with asyncio.Runner(loop_factory=Jumpy) as runner:
        *good, crash = runner.run(main())
    assert {(r.status, r.result) for r in good} == {("success", 1)}
    assert crash.status == "error"


def test_everything_stopped_for_a_while_as_when_a_laptop_sleeps(engine: Engine) -> None:
    run = run_code("report(1); await later(); report(2); export default 3", engine=engine,
                   globals={"later": _soon}, report=lambda value: None)  # fmt: skip
    assert until(lambda: len(run.reports) > 0)
    family = [engine._zygote.pid, *(worker.pid for worker in workers(engine))]
    for pid in family:
        os.kill(pid, signal.SIGSTOP)
    time.sleep(0.5)
    for pid in family:
        os.kill(pid, signal.SIGCONT)
    result = run.wait(30)
    assert (result.status, result.result, result.reports) == ("success", 3, [1, 2])
    assert works(engine)


async def _soon() -> None:
    await asyncio.sleep(0.1)


def test_a_stopped_worker_can_be_terminated(engine: Engine) -> None:
    run = run_code("report(1); for (;;);", engine=engine, report=lambda value: None)
    assert until(lambda: len(run.reports) > 0)
    os.kill(run._active._worker.pid, signal.SIGSTOP)
    run.terminate("enough")
    assert run.wait(30).status == "terminated"


def test_an_engine_whose_zygote_is_stopped_can_be_closed() -> None:
    engine = Engine(spares=1)
    assert works(engine)
    os.kill(engine._zygote.pid, signal.SIGSTOP)
    engine.close()
