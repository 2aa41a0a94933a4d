"""A guest that has learned addresses, or guesses them by crashing, meets another layout before long."""

from __future__ import annotations

import os
import signal
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from sandbox_kernel import Engine, run_code
from sandbox_kernel.engine import zygotes
from tests.hostile_worker.conftest import engine_of_taken_workers
from tests.processes import gone
from tests.waiting import eventually, until

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="/proc is Linux's")
WHERE = "answer([ctypes.cast(libc.getpid, ctypes.c_void_p).value, id(object), id(messages)])"
CRASHES = {
    "SIGSEGV": "ctypes.string_at(16)",
    "SIGSYS": "os.getuid()",
}


@pytest.fixture
def engine() -> Iterator[Engine]:
    with Engine(spares=2) as engine:
        engine.warm_up()
        assert until(lambda: len(engine.processes().spares) == 2)
        yield engine


def layout(engine: Engine) -> list[int]:
    """Addresses of the C library, of the interpreter and of an object of its heap."""
    result = run_code(WHERE, engine=engine).wait(30)
    assert result.status == "success", result.error
    found: list[int] = result.result
    return found


def is_new(engine: Engine, before: int | None, spares: int = 2) -> bool:
    """Whether another zygote has taken over entirely."""
    now = engine.processes()
    parents = {_parent(pid) for pid in now.spares}
    return (
        now.zygote not in (None, before)
        and (len(now.spares), parents) == (spares, {now.zygote} if spares else set())
        and not now.other_zygotes
        and not Path(f"/proc/{before}").exists()
    )


def _parent(pid: int) -> int:
    try:
        fields = Path(f"/proc/{pid}/stat").read_text()
    except FileNotFoundError:
        return 0
    return int(fields.rpartition(")")[2].split()[1])


def crash(engine: Engine, by: signal.Signals = signal.SIGSEGV) -> None:
    def end() -> None:
        (pid,) = engine.processes().workers
        os.kill(pid, by)

    run_code("end(); for (;;);", engine=engine, globals={"end": end}).wait(30)


@pytest.mark.parametrize("how", CRASHES)
def test_after_a_crash_another_zygote_has_another_layout(how: str) -> None:
    with engine_of_taken_workers(spares=2) as engine:
        assert layout(engine) == layout(engine)  # the same for all workers of one zygote
        before, zygote = layout(engine), engine.processes().zygote
        ended = run_code(CRASHES[how], engine=engine).wait(30)
        assert ended.error is not None
        assert how in ended.error.message
        assert until(lambda: is_new(engine, zygote), 30)
        after = layout(engine)
    assert [old == new for old, new in zip(before, after, strict=True)] == [False] * 3


CRASH_SIGNALS = [signal.SIGSEGV, signal.SIGBUS, signal.SIGILL, signal.SIGABRT, signal.SIGSYS]


@pytest.mark.parametrize("by", CRASH_SIGNALS)
def test_a_worker_ended_by_a_signal_of_its_own_doing_renews(
    engine: Engine, by: signal.Signals
) -> None:
    zygote = engine.processes().zygote
    crash(engine, by)
    assert until(lambda: is_new(engine, zygote), 30)
    assert run_code("export default 1", engine=engine).wait(30).result == 1


@pytest.mark.parametrize("by", [signal.SIGKILL, signal.SIGXCPU])
def test_a_worker_that_was_stopped_does_not(engine: Engine, by: signal.Signals) -> None:
    before = engine.processes()
    crash(engine, by)
    run_code("for (;;);", engine=engine).terminate()
    assert until(lambda: len(engine.processes().spares) == 2)
    assert (engine.processes().zygote, engine.processes().other_zygotes) == (before.zygote, ())


def test_after_many_forks_another_zygote_takes_over(
    engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(zygotes, "FORKS_PER_ZYGOTE", 20)
    zygote = engine.processes().zygote
    for number in range(18):  # each of which has a spare forked, besides the first two
        assert number > 5 or engine.processes().other_zygotes == ()
        assert run_code(f"export default {number}", engine=engine).wait(30).result == number
    assert until(lambda: is_new(engine, zygote), 30)


def test_no_run_is_lost_while_zygotes_come_and_go(
    engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(zygotes, "FORKS_PER_ZYGOTE", 10)
    monkeypatch.setattr(zygotes, "SECONDS_BETWEEN_RENEWALS", 0.0)
    seen = set()
    for start in range(0, 180, 6):
        runs = [run_code(f"export default {start + n}", engine=engine) for n in range(6)]
        assert [run.wait(30).result for run in runs] == list(range(start, start + 6))
        seen.add(engine.processes().zygote)
    assert len(seen) > 2
    assert until(lambda: not engine.processes().other_zygotes, 30)


def test_a_run_outlives_the_renewal_of_its_zygote(engine: Engine) -> None:
    before = engine.processes()

    async def renewal() -> tuple[int, ...]:
        os.kill(before.spares[1], signal.SIGSEGV)
        assert await eventually(lambda: engine.processes().zygote not in (None, before.zygote), 30)
        return engine.processes().other_zygotes

    source = "export default await renewal()"
    run = run_code(source, engine=engine, globals={"renewal": renewal})
    assert run.wait(60).result == [before.zygote]  # it stayed for this run
    assert until(lambda: is_new(engine, before.zygote), 30)


def test_a_storm_of_crashes_starts_few_zygotes(engine: Engine) -> None:
    began = time.monotonic()
    seen = {engine.processes().zygote}
    for _ in range(50):
        crash(engine)
        now = engine.processes()
        assert len(now.other_zygotes) <= 2  # one that starts, one whose last worker just ended
        seen |= {now.zygote, *now.other_zygotes}
    renewals = 1 + (time.monotonic() - began) / zygotes.SECONDS_BETWEEN_RENEWALS
    assert len(seen) <= 1 + renewals
    assert run_code("export default 1", engine=engine).wait(30).result == 1


def test_nothing_is_left_of_any_zygote() -> None:
    with Engine(spares=2) as engine:
        assert run_code("export default 1", engine=engine).wait(30).result == 1
        crash(engine)
        started = engine.processes()
    mine = Path(f"/proc/self/task/{os.getpid()}/children").read_text().split()
    assert not {str(pid) for pid in (started.zygote, *started.other_zygotes)} & set(mine)
    assert until(lambda: all(map(gone, started.spares)))


def test_every_spare_is_there_when_runs_waited_during_a_renewal(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(zygotes, "FORKS_PER_ZYGOTE", 10)
    monkeypatch.setattr(zygotes, "SECONDS_BETWEEN_RENEWALS", 0.0)
    with Engine(spares=2, concurrency=16) as engine:
        for _ in range(3):
            runs = [run_code(f"export default {n}", engine=engine) for n in range(60)]
            assert [run.wait(60).result for run in runs] == list(range(60))
            assert until(lambda: len(engine.processes().spares) == 2), engine.processes()
