"""The engine: spares, the queue, deaths and caps."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
import textwrap
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from traitlets import TraitError

from sandbox_kernel import Engine, one_way, run_code
from tests.waiting import until


@pytest.fixture
def engine() -> Iterator[Engine]:
    with Engine(spares=2, concurrency=3) as made:
        yield made


@contextmanager
def held(engine: Engine) -> Iterator[None]:
    """A run is executing in a bridge, and leaves it at the end."""
    entered, leave = threading.Event(), threading.Event()

    def stay() -> None:
        entered.set()
        leave.wait(60)

    run = run_code("stay(); export default 'left'", engine=engine, globals={"stay": stay})
    assert entered.wait(20)
    try:
        yield
    finally:
        leave.set()
    assert run.wait(20).result == "left"


def test_more_spares_can_be_asked_for_later(engine: Engine) -> None:
    engine.warm_up()
    assert until(lambda: len(engine.processes().spares) == 2)
    engine.spares = 4
    engine.warm_up()
    assert until(lambda: len(engine.processes().spares) == 4)


def test_a_run_takes_a_spare_and_another_takes_its_place(engine: Engine) -> None:
    engine.warm_up()
    assert until(lambda: len(engine.processes().spares) == 2)
    before = engine.processes().spares
    with held(engine):
        (worker,) = engine.processes().workers
        assert worker in before
        assert until(lambda: len(engine.processes().spares) == 2)
        assert worker not in engine.processes().spares


def test_queued_runs_begin_in_the_order_they_came() -> None:
    """One at a time, so that the order in which they say that they began is the queue's."""
    begun: list[int] = []
    with Engine(spares=1, concurrency=1) as engine:
        with held(engine):
            runs = [
                run_code("begun(n)", engine=engine, globals={"n": n, "begun": begun.append})
                for n in range(12)
            ]
            assert (engine.executing, engine.queued, begun) == (1, 12, [])
        for run in runs:
            run.wait(30)
        assert begun == list(range(12))
        assert (engine.executing, engine.queued) == (0, 0)


def test_a_run_terminated_in_the_queue_leaves_the_order_of_the_others() -> None:
    begun: list[int] = []
    with Engine(spares=1, concurrency=1) as engine:
        with held(engine):
            runs = [
                run_code("begun(n)", engine=engine, globals={"n": n, "begun": begun.append})
                for n in range(4)
            ]
            runs[1].terminate("not needed")
            result = runs[1].wait(20)
            assert (result.status, engine.queued) == ("terminated", 3)
        for run in runs:
            run.wait(30)
    assert begun == [0, 2, 3]


def test_no_more_than_the_limit_run_at_once(engine: Engine) -> None:
    heard: list[int] = []
    runs = [
        run_code("report(n); for (;;);", engine=engine, globals={"n": n}, report=heard.append)
        for n in range(6)
    ]
    assert until(lambda: len(heard) == 3)
    assert (engine.executing, engine.queued) == (3, 3)
    assert len(engine.processes().workers) == 3
    assert sorted(heard) == [0, 1, 2]
    for run in runs:
        run.terminate()
    assert {run.wait(10).status for run in runs} == {"terminated"}


def test_it_survives_the_death_of_its_zygote(engine: Engine) -> None:
    victim = run_code("report(1); for (;;);", engine=engine, report=lambda value: None)
    assert until(lambda: victim.reports)
    zygote = engine.processes().zygote
    assert zygote is not None
    os.kill(zygote, signal.SIGKILL)
    result = victim.wait(20)
    assert (result.status, result.error and result.error.name) == ("error", "SandboxCrash")
    assert run_code("export default 2", engine=engine).wait(20).result == 2
    assert engine.processes().zygote != zygote


def test_a_killed_worker_is_a_crash_and_the_next_run_works(engine: Engine) -> None:
    run = run_code("report('before'); for (;;);", engine=engine, report=lambda value: None)
    assert until(lambda: run.reports)
    (worker,) = engine.processes().workers
    os.kill(worker, signal.SIGSEGV)
    result = run.wait(20)
    assert (result.status, result.reports) == ("error", ["before"])
    assert result.error is not None
    assert (result.error.name, result.error.message) == (
        "SandboxCrash",
        "the worker was ended by SIGSEGV",
    )
    assert run_code("export default 2", engine=engine).wait(20).result == 2


def test_the_processor_cap_terminates_and_says_so() -> None:
    with Engine(spares=1, cpu_seconds=1) as engine:
        result = run_code("for (;;);", engine=engine).wait(30)
    assert result.status == "terminated"
    assert result.error is not None
    assert result.error.message == "safety cap: more than 1 s of processor time"


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
        await asyncio.Event().wait()

    with Engine(spares=1, output_bytes=10**6) as engine:
        options = {"report": lambda value: None, "globals": {"keep": keep}}
        result = run_code(source, options, engine=engine).wait(30)
    assert result.status == "terminated"
    assert result.error is not None
    assert result.error.message == "safety cap: more than 1000000 bytes of output"


@pytest.mark.parametrize("mode", ["sync", "later", "forget"])
def test_arguments_of_finished_calls_do_not_count_as_output(mode: str) -> None:
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
    assert result.status == "terminated"
    assert result.error is not None
    assert result.error.message == "safety cap: one message of more than 1000000 bytes"


def test_a_loop_closed_mid_run_frees_its_place() -> None:
    with Engine(spares=1, concurrency=1) as engine:

        async def abandon() -> Any:
            return run_code("for (;;);", engine=engine)

        run = asyncio.run(abandon())
        assert run_code("export default 'next'", engine=engine).wait(20).result == "next"
        assert run.wait(5).status == "terminated"


def test_the_default_engine_takes_over_what_runs_without_one() -> None:
    code = textwrap.dedent(
        """
        from sandbox_kernel import Engine, run_code
        runs = [run_code("for (;;);") for _ in range(20)]
        engine = Engine.instance()
        assert engine.executing == engine.concurrency
        assert engine.executing + engine.queued == 20
        runs.append(run_code("export default 1"))
        for run in runs[:-1]:
            run.terminate()
        assert runs[-1].wait(20).result == 1
        assert {run.wait(20).status for run in runs[:-1]} == {"terminated"}
        assert (engine.executing, engine.queued) == (0, 0)
        """
    )
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60)


def test_a_bad_setting_is_refused_by_name() -> None:
    with pytest.raises(TraitError, match="'spares' trait of an Engine instance should not be less"):
        Engine(spares=-1)
