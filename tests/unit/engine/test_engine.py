"""The engine: spares, the queue, deaths, and that nothing is left behind."""

from __future__ import annotations

import asyncio
import gc
import os
import signal
import subprocess
import sys
import textwrap
import threading
import time
from collections.abc import Iterator
from typing import Any

import psutil
import pytest

from sandbox_kernel import Engine, EngineClosedError, one_way, run_code
from sandbox_kernel.backend import Outcome
from sandbox_kernel.loops import _idle
from tests.waiting import until


@pytest.fixture
def engine() -> Iterator[Engine]:
    with Engine(spares=2, concurrency=3) as made:
        yield made


def family() -> set[int]:
    return {child.pid for child in psutil.Process().children(recursive=True)}


def test_more_spares_can_be_asked_for_later(engine: Engine) -> None:
    engine.warm_up()
    engine.spares = 4
    engine.warm_up()
    assert until(lambda: len(engine._spares) == 4)


def test_spares_are_ready_and_refilled(engine: Engine) -> None:
    engine.warm_up()
    assert until(lambda: len(engine._spares) == 2)
    assert run_code("export default 1", engine=engine).wait(20).result == 1
    assert until(lambda: len(engine._spares) == 2)


def test_runs_beyond_the_concurrency_limit_wait_in_order(engine: Engine) -> None:
    order: list[int] = []
    source = "started(n); await pause(); export default n"

    async def pause() -> None:
        await asyncio.sleep(0.02)

    runs = [
        run_code(source, engine=engine, globals={"n": n, "started": order.append, "pause": pause})
        for n in range(12)
    ]
    assert [run.wait(30).result for run in runs] == list(range(12))
    assert sorted(order) == list(range(12))
    assert len(engine._active) == 0


def test_no_more_than_the_limit_run_at_once(engine: Engine) -> None:
    runs = [run_code("for (;;);", engine=engine) for _ in range(6)]
    assert until(lambda: len(engine._active) == 3)
    assert len(engine._queue) == 3
    for run in runs:
        run.terminate()
    assert {run.wait(10).status for run in runs} == {"terminated"}


def test_close_ends_runs_and_leaves_no_process_and_no_descriptor() -> None:
    before, descriptors = family(), psutil.Process().num_fds()
    engine = Engine(spares=3)
    runs = [run_code("for (;;);", engine=engine) for _ in range(3)]
    assert until(lambda: len(family() - before) >= 4)
    engine.close()
    assert {run.wait(10).status for run in runs} == {"terminated"}
    assert until(lambda: family() <= before)
    assert until(lambda: psutil.Process().num_fds() <= descriptors + 6)  # idle loop threads stay
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


def test_it_survives_the_death_of_its_zygote(engine: Engine) -> None:
    assert run_code("export default 1", engine=engine).wait(20).result == 1
    victim = run_code("for (;;);", engine=engine)
    time.sleep(0.1)
    assert engine._zygote is not None
    os.kill(engine._zygote.pid, signal.SIGKILL)
    result = victim.wait(20)
    assert (result.status, result.error.name if result.error else None) == ("error", "SandboxCrash")
    assert run_code("export default 2", engine=engine).wait(20).result == 2


def test_a_killed_worker_is_a_crash_and_the_next_run_works(engine: Engine) -> None:
    run = run_code("report('before'); for (;;);", engine=engine, report=lambda value: None)
    assert until(lambda: len(run.reports) == 1)
    (session,) = engine._active
    assert session._worker is not None
    os.kill(session._worker.pid, signal.SIGSEGV)
    result = run.wait(20)
    assert (result.status, result.reports) == ("error", ["before"])
    assert result.error is not None
    assert result.error.name == "SandboxCrash"
    assert run_code("export default 2", engine=engine).wait(20).result == 2


def test_the_processor_cap_terminates_and_says_so() -> None:
    with Engine(spares=1, cpu_seconds=1) as engine:
        result = run_code("for (;;);", engine=engine).wait(30)
    assert result.status == "terminated"
    assert result.error is not None
    assert "safety cap" in result.error.message
    assert "processor" in result.error.message


@pytest.mark.parametrize(
    "source",
    [
        "for (;;) report('x'.repeat(10000))",
        "for (;;) console.log('x'.repeat(10000))",
        "for (;;) keep('x'.repeat(10000))",
        "for (;;) keep(new Uint8Array(10000))",
    ],
)
def test_the_output_cap_terminates_and_says_so(source: str) -> None:
    async def keep(value: Any) -> None:
        await asyncio.sleep(3600)

    with Engine(spares=1, output_bytes=10**6) as engine:
        options = {"report": lambda value: None, "globals": {"keep": keep}}
        result = run_code(source, options, engine=engine).wait(30)
    assert result.status == "terminated"
    assert result.error is not None
    assert "safety cap: more than 1000000 bytes of output" in result.error.message


@pytest.mark.parametrize("mode", ["sync", "later", "forget"])
def test_arguments_of_calls_that_have_ended_are_no_output(mode: str) -> None:
    """A run may go on for days, calling its bridges."""
    heard = 0

    def sync(value: str) -> None:
        nonlocal heard
        heard += len(value)

    async def later(value: str) -> None:
        await asyncio.sleep(0)
        sync(value)

    source = f"for (let i = 0; i < 400; i++) await {mode}('x'.repeat(10000))"
    bridges = {"sync": sync, "later": later, "forget": one_way(lambda value: sync(value))}
    with Engine(spares=1, output_bytes=10**6) as engine:
        result = run_code(source + "; export default 1", globals=bridges, engine=engine).wait(30)
    assert (result.status, heard) == ("success", 4_000_000)


def test_a_message_over_the_cap_ends_the_run() -> None:
    with Engine(spares=1, message_bytes=10**6) as engine:
        result = run_code("export default 'x'.repeat(2e6)", engine=engine).wait(30)
    assert result.status == "error"
    assert result.error is not None
    assert "cap 1000000" in result.error.message


def test_a_loop_closed_mid_run_frees_its_place() -> None:
    with Engine(spares=1, concurrency=1) as engine:

        async def abandon() -> Any:
            return run_code("for (;;);", engine=engine)

        run = asyncio.run(abandon())
        assert run_code("export default 'next'", engine=engine).wait(20).result == "next"
        assert run.wait(5).status == "terminated"


def test_another_backend_can_stand_behind_the_handle() -> None:
    class Elsewhere:
        def start(self, order: Any, lent: Any, listener: Any, loop: Any) -> Any:
            listener.on_report(order.source)
            listener.settled(Outcome("success", "from elsewhere"))
            return self

        def terminate(self, reason: str | None) -> None: ...

        def memory_used_bytes(self) -> int | None:
            return None

    result = run_code("export default 1", engine=Elsewhere()).wait(5)
    assert (result.result, result.reports) == ("from elsewhere", ["export default 1"])


def test_the_default_engine_takes_over_what_runs_without_one() -> None:
    code = textwrap.dedent(
        """
        from sandbox_kernel import Engine, run_code
        runs = [run_code("for (;;);") for _ in range(20)]
        engine = Engine.instance()
        assert len(engine._active) + len(engine._queue) == 20
        runs.append(run_code("export default 1"))
        for run in runs[:-1]:
            run.terminate()
        assert runs[-1].wait(20).result == 1
        assert {run.wait(20).status for run in runs[:-1]} == {"terminated"}
        assert not engine._active and not engine._queue
        """
    )
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60)


SCRIPT = """
import os, sys, time
from sandbox_kernel import run_code, Engine
run = run_code("for (;;);", engine=Engine.instance())
while not Engine.instance()._active or not next(iter(Engine.instance()._active))._worker: time.sleep(0.01)
time.sleep(0.1)
print(*[Engine.instance()._zygote.pid, *[s._worker.pid for s in Engine.instance()._active]], flush=True)
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
    assert until(lambda: not any(psutil.pid_exists(pid) for pid in pids))


def test_a_fork_of_the_host_has_an_engine_of_its_own() -> None:
    code = textwrap.dedent(
        """
        import os
        from sandbox_kernel import run_code
        assert run_code("export default 1").wait(20).result == 1
        pid = os.fork()
        if not pid:
            os._exit(0 if run_code("export default 2").wait(20).result == 2 else 1)
        assert os.waitpid(pid, 0)[1] == 0
        assert run_code("export default 3").wait(20).result == 3
        """
    )
    subprocess.run([sys.executable, "-W", "ignore", "-c", code], check=True, timeout=60)


async def test_a_thousand_runs_at_once_all_settle() -> None:
    runs = [run_code("export default n", globals={"n": n}) for n in range(1000)]
    assert [(await run).result for run in runs] == list(range(1000))


def test_ten_thousand_runs_in_a_row_grow_nothing() -> None:
    def settle(count: int) -> None:
        for n in range(count):
            assert (
                run_code("export default n", globals={"n": n}, language="javascript")
                .wait(30)
                .result
                == n
            )

    process = psutil.Process()
    settle(1000)
    time.sleep(0.3)
    before = (process.num_fds(), len(process.children(recursive=True)), process.memory_info().rss)
    settle(9000)
    time.sleep(0.3)
    after = (process.num_fds(), len(process.children(recursive=True)), process.memory_info().rss)
    assert after[0] <= before[0] + 4
    assert after[1] <= before[1] + 4
    assert after[2] <= before[2] + 8 * 2**20


def test_a_bad_trait_is_refused_by_name() -> None:
    with pytest.raises(Exception, match="spares"):
        Engine(spares=-1)


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

    await one()
    await asyncio.sleep(0.1)
    gc.collect()
    gc.disable()
    gc.set_debug(gc.DEBUG_SAVEALL)
    try:
        await one()
        await asyncio.sleep(0.1)
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
            assert until(lambda: engine._spares)
            spare = engine._spares[0].pid
            assert until(lambda: len(os.listdir(f"/proc/{spare}/fd")) == 1)
            assert engine._zygote is not None
            assert str(high) not in os.listdir(f"/proc/{engine._zygote.pid}/fd")
    finally:
        for descriptor in (reading, writing, high):
            os.close(descriptor)
