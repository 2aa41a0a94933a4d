"""The ground under a run gives way: its event loop is closed, its process forks, its time jumps."""

from __future__ import annotations

import asyncio
import os
import signal
import threading
from typing import Any

import pytest

from sandbox_kernel import EngineError, loops, run_code
from sandbox_kernel.engine import Engine
from tests.faults.health import at_rest, workers, works, zygote_of
from tests.processes import gone
from tests.waiting import until


def test_a_loop_closed_under_its_run(engine: Engine) -> None:
    async def begin() -> Any:
        run = run_code("report(1); for (;;);", engine=engine, report=lambda value: None)
        await anext(run.stream())
        return run, engine.processes().workers

    run, (worker,) = asyncio.run(begin())
    assert works(engine)  # the next run finds the orphan, and ends it
    result = run.wait(30)
    assert (result.status, result.reports) == ("terminated", [1])
    assert result.error.message == "cancelled"
    assert until(lambda: gone(worker))


def test_no_thread_can_be_started_for_a_loop(
    engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(thread: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(loops, "_idle", [])
    with monkeypatch.context() as scarce:
        scarce.setattr(threading.Thread, "start", refuse)
        with pytest.raises(EngineError, match="an event loop for the run: can't start new thread"):
            run_code("export default 1", engine=engine)
    assert works(engine)


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
            sink = lambda value: None  # noqa: E731  # as in every other call
            runs = [run_code("report(1); for (;;);", engine=engine, report=sink) for _ in range(10)]
            for run in runs[:2]:
                await anext(run.stream())
            return runs

        runs = asyncio.run(begin())
        assert (engine.executing, engine.queued) == (2, 8)
        assert works(engine)
        assert {run.wait(30).status for run in runs} == {"terminated"}
        assert until(lambda: at_rest(engine))


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
    assert until(lambda: run.reports)
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


def test_a_clock_that_jumps(engine: Engine) -> None:
    async def main() -> list[Any]:
        crash = run_code("report(1); for (;;);", engine=engine, report=lambda value: None)
        await anext(crash.stream())
        (worker,) = engine.processes().workers
        source = "report(1); export default 1"
        good = [await run_code(source, engine=engine, report=lambda value: None) for _ in range(20)]
        os.kill(worker, signal.SIGKILL)
        return [*good, await crash]

    with asyncio.Runner(loop_factory=Jumpy) as runner:
        *good, crash = runner.run(main())
    assert {(result.status, result.result) for result in good} == {("success", 1)}
    assert (crash.status, crash.error.name) == ("error", "SandboxCrash")


def test_everything_stopped_for_a_while_as_when_a_laptop_sleeps(engine: Engine) -> None:
    """The bridge is done while they sleep; its answer waits for them."""
    proceed, answered = threading.Event(), threading.Event()

    def bridge() -> None:
        proceed.wait(30)
        answered.set()

    run = run_code("report(1); bridge(); report(2); export default 3", engine=engine,
                   globals={"bridge": bridge}, report=lambda value: None)  # fmt: skip
    assert until(lambda: run.reports)
    assert until(lambda: len(workers(engine)) == 2)  # the run's own, and a spare
    zygote = zygote_of(engine)
    family = [zygote, *workers(engine)]
    for pid in family:
        os.kill(pid, signal.SIGSTOP)
    proceed.set()
    assert answered.wait(30)
    for pid in family:
        os.kill(pid, signal.SIGCONT)
    result = run.wait(30)
    assert (result.status, result.result, result.reports) == ("success", 3, [1, 2])
    assert works(engine)
    assert engine.processes().zygote == zygote


def test_a_stopped_worker_can_be_terminated(engine: Engine) -> None:
    run = run_code("report(1); for (;;);", engine=engine, report=lambda value: None)
    assert until(lambda: run.reports)
    (worker,) = engine.processes().workers
    os.kill(worker, signal.SIGSTOP)
    run.terminate("enough")
    result = run.wait(30)
    assert (result.status, result.reports) == ("terminated", [1])
    assert until(lambda: gone(worker))


def test_an_engine_whose_zygote_is_stopped_can_be_closed() -> None:
    engine = Engine(spares=1)
    assert works(engine)
    assert until(lambda: at_rest(engine))
    zygote = zygote_of(engine)
    family = [zygote, *engine.processes().spares]
    os.kill(zygote, signal.SIGSTOP)
    engine.close()
    assert until(lambda: all(map(gone, family)))
