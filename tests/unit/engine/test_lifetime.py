"""How engines and hosts end: nothing of theirs is left behind."""

from __future__ import annotations

import asyncio
import gc
import os
import subprocess
import sys
import textwrap
import threading
from collections.abc import Iterator

import psutil
import pytest

from sandbox_kernel import Engine, EngineClosedError, run_code
from sandbox_kernel.loops import _idle
from tests.faults.health import at_rest, descriptors
from tests.processes import gone
from tests.waiting import until


@pytest.fixture
def engine() -> Iterator[Engine]:
    with Engine(spares=2, concurrency=3) as made:
        yield made


def family() -> set[int]:
    """This process's children and theirs."""
    return {child.pid for child in psutil.Process().children(recursive=True)}


def test_close_ends_runs_and_leaves_no_process_and_no_descriptor() -> None:
    open_before, before = descriptors(), family()
    engine = Engine(spares=3)
    heard: list[int] = []
    runs = [run_code("report(1); for (;;);", engine=engine, report=heard.append) for _ in range(3)]
    assert until(lambda: len(heard) == 3)
    assert until(lambda: len(family() - before) == 1 + 3 + 3)  # zygote, workers, spares
    engine.close()
    assert {run.wait(10).status for run in runs} == {"terminated"}
    assert until(lambda: family() <= before)
    assert until(lambda: descriptors() <= open_before)
    with pytest.raises(EngineClosedError):
        run_code("export default 1", engine=engine)
    engine.close()


def test_runs_that_could_not_start_keep_no_thread() -> None:
    engine = Engine(spares=1)
    engine.close()

    def threads() -> int:
        return sum(thread.name == "sandbox-run" for thread in threading.enumerate())

    with pytest.raises(EngineClosedError):
        run_code("1", engine=engine)
    assert until(lambda: bool(_idle))
    before = threads()
    for _ in range(20):
        with pytest.raises(EngineClosedError):
            run_code("1", engine=engine)
        assert until(lambda: bool(_idle))
    assert threads() == before


SCRIPT = """
import os, sys, threading
from sandbox_kernel import Engine, run_code
begun = threading.Event()
run = run_code("report(1); for (;;);", engine=Engine.instance(), report=lambda value: begun.set())
assert begun.wait(30)
processes = Engine.instance().processes()
print(processes.zygote, *processes.workers, flush=True)
{end}
"""


@pytest.mark.parametrize(
    "end", ["sys.exit(0)", "os.kill(os.getpid(), 9)", "raise SystemError", "os._exit(3)"]
)
def test_the_end_of_the_host_leaves_nothing_running(end: str) -> None:
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT.format(end=end)], capture_output=True, text=True, timeout=60
    )
    pids = [int(word) for word in done.stdout.split()]
    assert len(pids) == 2, done.stderr
    assert until(lambda: all(map(gone, pids)))


def test_a_fork_of_the_host_has_an_engine_of_its_own() -> None:
    code = textwrap.dedent(
        """
        import os
        from sandbox_kernel import Engine, run_code
        assert run_code("export default 1").wait(20).result == 1
        zygote = Engine.instance().processes().zygote
        pid = os.fork()
        if not pid:
            ours = run_code("export default 2").wait(20).result == 2
            os._exit(0 if ours and Engine.instance().processes().zygote != zygote else 1)
        assert os.waitpid(pid, 0)[1] == 0
        assert run_code("export default 3").wait(20).result == 3
        assert Engine.instance().processes().zygote == zygote
        """
    )
    subprocess.run([sys.executable, "-W", "ignore", "-c", code], check=True, timeout=60)


async def test_a_run_that_is_over_leaves_nothing_to_the_garbage_collector(engine: Engine) -> None:
    """A large result is gone when its last user lets go of it, not some time later."""

    async def twice(n: int) -> int:
        return 2 * n

    async def one() -> None:
        run = run_code(
            "console.log(1); await twice(1); throw 1", engine=engine, globals={"twice": twice}
        )
        assert (await run).status == "error"
        source = "report(2); apply(() => 1); export default [await twice(1), () => 1]"
        bridges = {"twice": twice, "apply": lambda function: None}
        run = run_code(source, engine=engine, globals=bridges, report=lambda value: None)
        assert (await run).status == "success"
        stopped = run_code("report(1); for (;;);", engine=engine, report=lambda value: None)
        async for _ in stopped.stream():
            stopped.terminate()
        del run, stopped
        assert await asyncio.to_thread(until, lambda: at_rest(engine))

    await one()
    gc.collect()
    gc.disable()
    gc.set_debug(gc.DEBUG_SAVEALL)
    try:
        await one()
        gc.collect()
        ours = [
            thing for thing in gc.garbage if type(thing).__module__.startswith("sandbox_kernel")
        ]
    finally:
        gc.set_debug(0)
        gc.garbage.clear()
        gc.enable()
    assert ours == []


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_descriptors_that_the_host_lets_children_have_are_closed() -> None:
    reading, writing = os.pipe()
    high = 700
    os.dup2(writing, high, inheritable=True)
    try:
        with Engine(spares=1) as engine:
            assert run_code("export default 1", engine=engine).wait(20).result == 1
            assert until(lambda: at_rest(engine))
            zygote, (spare,) = engine.processes().zygote, engine.processes().spares
            assert until(lambda: len(os.listdir(f"/proc/{spare}/fd")) == 1)
            assert str(high) not in os.listdir(f"/proc/{zygote}/fd")
    finally:
        for descriptor in (reading, writing, high):
            os.close(descriptor)
