"""Whatever breaks: a clear error or result, no hang, nothing left behind, and the next program works."""

from __future__ import annotations

import asyncio
import gc
import os
import resource
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import psutil
import pytest

from sandbox_kernel.errors import EngineError, IsolationError
from sandbox_kernel.programs import Programs, active, spawn
from sandbox_kernel.programs.protocol import PROCESS
from sandbox_kernel.run import run_program
from tests.processes import gone
from tests.waiting import eventually, until

ENDLESS = "print('started', flush=True)\nwhile True: pass"
ROOT = Path(__file__).parents[2]


@pytest.fixture
def fresh(level: str) -> Iterator[Programs]:
    """Of its own, because it will be broken."""
    with Programs(isolation=level, spares=1) as made:
        assert works(made)
        assert until(lambda: made.processes().spares == 1)
        yield made


def works(programs: Programs) -> bool:
    result = run_program("print(6 * 7)", engine=programs).wait(30)
    return (result.stdout, result.exit_code) == ("42\n", 0)


def guardian_of(programs: Programs) -> psutil.Process:
    (pid,) = programs.processes().zygotes
    return psutil.Process(pid)


def zygote_of(programs: Programs) -> psutil.Process:
    (zygote,) = guardian_of(programs).children()
    return zygote


def supervisors_of(programs: Programs) -> list[psutil.Process]:
    return [each for each in zygote_of(programs).children() if not gone(each.pid)]


async def running(programs: Programs) -> active.ActiveProgram:
    """A program that has begun."""
    handle = run_program(ENDLESS, engine=programs)
    async for _ in handle.stream():
        break
    (program,) = programs._pool._executing
    program.handle = handle  # type: ignore[attr-defined]  # so that it is not let go of
    return program


def pid_of(pidfd: int | None) -> int:
    text = Path(f"/proc/self/fdinfo/{pidfd}").read_text()
    return int(text.split("Pid:")[1].split()[0])


@pytest.mark.parametrize("victim", ["supervisor", "guest"])
async def test_a_process_of_a_program_is_killed(fresh: Programs, victim: str) -> None:
    program = await running(fresh)
    assert program.place is not None
    others = [pid_of(program.place.supervisor), pid_of(program.place.guest)]
    os.kill(pid_of(getattr(program.place, victim)), signal.SIGKILL)
    result = await program.handle  # type: ignore[attr-defined]  # set by running()
    lost = "its supervisor was ended from outside" if victim == "supervisor" else None
    assert (result.exit_code, result.killed, result.reason) == (137, False, lost)
    assert result.stdout == "started\n"
    assert await eventually(lambda: all(map(gone, others)))
    assert await asyncio.to_thread(works, fresh)


async def test_a_supervisor_is_stopped(fresh: Programs, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(active, "_GRACE", 0.2)
    handle = run_program(ENDLESS, engine=fresh, timeout_ms=300)
    async for _ in handle.stream():
        break
    (program,) = fresh._pool._executing
    assert program.place is not None
    os.kill(pid_of(program.place.supervisor), signal.SIGSTOP)
    result = await handle
    assert (result.killed, result.reason) == (True, "time limit of 300 ms")
    assert await asyncio.to_thread(works, fresh)


@pytest.mark.parametrize("victim", ["zygote", "guardian"])
async def test_the_zygote_is_killed(fresh: Programs, victim: str) -> None:
    program = await running(fresh)
    assert program.place is not None
    others = [pid_of(program.place.guest), zygote_of(fresh).pid, guardian_of(fresh).pid]
    others += [each.pid for each in supervisors_of(fresh)]  # that of the spare, too
    process = zygote_of(fresh) if victim == "zygote" else guardian_of(fresh)
    process.kill()
    result = await program.handle  # type: ignore[attr-defined]  # set by running()
    assert (result.exit_code, result.reason) == (137, "its supervisor was ended from outside")
    assert await eventually(lambda: all(map(gone, others)))
    assert await asyncio.to_thread(works, fresh)


def test_spares_that_died_are_not_used(fresh: Programs) -> None:
    supervisors = supervisors_of(fresh)
    for supervisor in supervisors:
        with suppress(psutil.NoSuchProcess):  # of a program that has just ended
            supervisor.kill()
    assert until(lambda: all(gone(each.pid) for each in supervisors))
    assert works(fresh)


def test_a_zygote_that_is_stopped(fresh: Programs, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(active, "PATIENCE", 0.5)
    assert works(fresh)
    zygote = zygote_of(fresh)
    zygote.suspend()
    results: list[object] = []
    for _ in range(4):
        try:
            results.append(works(fresh))
        except EngineError as error:
            results.append(str(error))
            break
    assert results[-1] == "no process was ready for the program within 0.5 s"
    monkeypatch.setattr(active, "PATIENCE", 10.0)
    assert works(fresh)
    assert until(lambda: gone(zygote.pid))


class SignsOfOthers:
    """As if other places of the zygote had just become ready, whenever one looks."""

    looks = 0

    @property
    def last(self) -> float:
        self.looks += 1
        return time.monotonic()

    @last.setter
    def last(self, seconds: float) -> None:
        """Its own."""


async def test_a_zygote_that_is_slow_but_works_is_waited_for(
    fresh: Programs, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(active, "PATIENCE", 0.1)
    zygote = zygote_of(fresh)
    zygote.suspend()
    handle = run_program("print(1)", engine=fresh, memory_limit_bytes=64 << 20)  # no spare fits
    (program,) = fresh._pool._executing
    assert await eventually(lambda: program.place is not None)
    assert program.place is not None
    program.place.signs = signs = SignsOfOthers()  # type: ignore[assignment]  # stands for it
    assert await eventually(lambda: signs.looks > 2 or not handle.running)
    zygote.resume()
    assert (await handle).stdout == "1\n"


def use_up_descriptors(kept: list[int]) -> None:
    with suppress(OSError):
        while True:
            kept.append(os.open(os.devnull, os.O_RDONLY))


async def test_no_descriptors_are_left(
    fresh: Programs, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))  # where folders of zygotes are made
    before = resource.getrlimit(resource.RLIMIT_NOFILE)
    kept: list[int] = []
    fresh.spares = 0
    assert (await run_program("print(1)", engine=fresh)).exit_code == 0  # uses up the spare
    assert await eventually(lambda: fresh.processes().spares == 0 and not fresh._pool._left)
    try:
        few = len(os.listdir("/proc/self/fd")) + 64
        resource.setrlimit(resource.RLIMIT_NOFILE, (few, before[1]))
        use_up_descriptors(kept)
        os.close(kept.pop())
        with pytest.raises(EngineError, match=r"Too many open files|no descriptors"):
            await run_program("print(1)", engine=fresh)
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, before)
        for descriptor in kept:
            os.close(descriptor)
    assert (await run_program("print(1)", engine=fresh)).exit_code == 0
    fresh.close()
    assert await eventually(lambda: not list(tmp_path.glob("sandbox-programs-*")))


def test_no_thread_can_be_started(level: str, monkeypatch: pytest.MonkeyPatch) -> None:
    start = threading.Thread.start

    def refuse(thread: threading.Thread) -> None:
        if thread.name.startswith("sandbox-programs"):
            raise RuntimeError("can't start new thread")
        start(thread)

    with Programs(isolation=level, spares=0, concurrency=1) as programs:
        with monkeypatch.context() as scarce:
            scarce.setattr(threading.Thread, "start", refuse)
            runs = [run_program("print(1)", engine=programs) for _ in range(3)]
            for run in runs:
                with pytest.raises(EngineError, match="could be started: can't start new thread"):
                    run.wait(30)
            with pytest.raises(EngineError, match="can't start new thread"):
                programs.doctor()
            assert (programs.executing, programs.queued) == (0, 0)
        assert works(programs)


def test_the_disk_is_full(fresh: Programs, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(active, "write_inputs", full)
    with pytest.raises(EngineError, match="input files could not be written: No space left"):
        run_program("print(1)", files={"a": "b"}, engine=fresh).wait(30)
    assert works(fresh)


def test_files_that_fill_the_directory_at_once_are_refused(level: str) -> None:
    with (
        Programs(isolation=level, spares=0, directory_bytes=2**20) as small,
        pytest.raises(ValueError, match="a program may have 1 MiB"),
    ):
        run_program("", files={"a": bytes(2**20 + 1)}, engine=small)


LIMITED_HOST = """
import resource, sys
from sandbox_kernel.programs import Programs
from sandbox_kernel.run import run_program
for name, most in {"CORE": 0, "CPU": 100, "DATA": 200 << 20, "FSIZE": 10 << 20, "NOFILE": 128}.items():
    resource.setrlimit(getattr(resource, f"RLIMIT_{name}"), (most, most))
with Programs(isolation=sys.argv[1], spares=0) as programs:
    print(run_program("print(6 * 7)", engine=programs).wait(30).stdout)
"""


def test_a_host_that_is_limited_further_has_programs_that_are(level: str) -> None:
    env = {**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT), *sys.path])}
    command = [sys.executable, "-c", LIMITED_HOST, level]
    done = subprocess.run(command, capture_output=True, text=True, env=env, timeout=60)
    assert (done.stdout.strip(), done.stderr) == ("42", "")


def test_an_interpreter_that_is_not_there(level: str) -> None:
    with Programs(isolation=level, python="/nowhere/python", spares=0) as none:
        with pytest.raises(IsolationError, match=r"No such file or directory"):
            run_program("print(1)", engine=none).wait(30)
        none.python = ""
        assert works(none)


def test_an_interpreter_that_dies_at_birth(level: str) -> None:
    with (
        Programs(isolation=level, python="/bin/false", spares=0) as none,
        pytest.raises(IsolationError, match=r"ended at its start|Broken pipe|reset by peer"),
    ):
        run_program("print(1)", engine=none).wait(30)


def test_a_zygote_whose_lockdown_fails_is_refused(
    level: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(spawn, "_MODULE", "tests.programs.missing")
    with Programs(isolation=level, spares=0) as none, pytest.raises(IsolationError):
        none.doctor()


def test_less_isolation_is_refused_unless_it_is_asked_for(
    programs: Programs, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sandbox_kernel.programs.levels.LEVELS", ())
    with Programs(spares=0) as strict, pytest.raises(IsolationError, match="cannot isolate"):
        run_program("print(1)", engine=strict).wait(30)
    with Programs(spares=0, require_isolation=False) as lax:
        with pytest.warns(UserWarning, match="programs can read the files of their user"):
            result = run_program("open('/etc/hostname'); print(1)", engine=lax).wait(30)
        assert result.stdout == "1\n"
        assert lax.doctor()["isolation"] == PROCESS


HOST = """
import sys
from sandbox_kernel.run import run_program
from sandbox_kernel.programs import Programs
import asyncio
async def main():
    with Programs(isolation=sys.argv[1], spares=2) as programs:
        handle = run_program("print(1, flush=True)\\nwhile True: pass", engine=programs)
        async for _ in handle.stream():
            print(programs.processes().zygotes[0], flush=True)
            await asyncio.sleep(600)
asyncio.run(main())
"""


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
def test_nothing_outlives_the_host(level: str, number: signal.Signals) -> None:
    env = {**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT), *sys.path])}
    command = [sys.executable, "-c", HOST, level]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=env) as host:
        assert host.stdout is not None
        guardian = psutil.Process(int(host.stdout.readline()))
        tree = [guardian, *guardian.children(recursive=True)]
        assert len(tree) >= 4
        folders = {folder for each in tree for folder in folders_of(each)}
        host.send_signal(number)
    assert until(lambda: all(gone(each.pid) for each in tree))
    assert until(lambda: not any(map(os.path.exists, folders)))


def folders_of(process: psutil.Process) -> set[str]:
    """Of our own in which it works, where there is no tmpfs."""
    try:
        folder = process.cwd()
    except psutil.Error:
        return set()
    return {folder} if "sandbox-programs-" in folder else set()


def test_a_fork_of_the_host_does_not_hold_on_to_programs(fresh: Programs) -> None:
    handle = run_program("import sys; print(sys.stdin.read())", stdin="x", engine=fresh)
    child = os.fork()
    if child == 0:
        time.sleep(30)
        os._exit(0)
    try:
        assert handle.wait(20).stdout == "x\n"
        assert works(fresh)
    finally:
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)


def test_a_fork_of_the_host_has_programs_of_its_own(fresh: Programs) -> None:
    child = os.fork()
    if child == 0:
        os._exit(0 if works(fresh) else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert works(fresh)


def test_a_loop_that_is_closed_under_a_program(fresh: Programs) -> None:
    async def leave() -> int:
        program = await running(fresh)
        assert program.place is not None
        loop = asyncio.get_running_loop()
        loop.call_soon(loop.stop)
        return pid_of(program.place.guest)

    loop = asyncio.new_event_loop()
    guest = loop.run_until_complete(leave())
    loop.close()
    assert works(fresh)
    gc.collect()
    assert until(lambda: gone(guest))
    assert fresh.executing == 0


def test_many_programs_leave_nothing(fresh: Programs) -> None:
    def held() -> tuple[int, int]:
        return len(os.listdir("/proc/self/fd")), len(psutil.Process().threads())

    for _ in range(5):
        works(fresh)
    assert until(lambda: fresh.processes().spares == 1 and not fresh._pool._left)
    before, zygote = held(), zygote_of(fresh)
    memory = zygote.memory_info().rss
    for number in range(40):
        run_program(
            "open('a', 'w').write('x'); 1 / 0", files={"b": str(number)}, engine=fresh
        ).wait(30)
    assert until(lambda: fresh.processes().spares == 1 and not fresh._pool._left)
    assert until(lambda: held()[0] <= before[0])
    assert until(lambda: len(supervisors_of(fresh)) == 1)
    assert zygote.num_fds() <= 16
    assert zygote.memory_info().rss - memory < 2**20


def test_closing_leaves_no_process(level: str) -> None:
    with Programs(isolation=level, spares=2) as programs:
        assert works(programs)
        guardian = guardian_of(programs)
        tree = [guardian, *guardian.children(recursive=True)]
    assert until(lambda: all(gone(each.pid) for each in tree))
    assert not psutil.pid_exists(guardian.pid)


def test_another_zygote_takes_over_after_many_programs(
    fresh: Programs, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sandbox_kernel.programs.zygotes.PLACES_PER_ZYGOTE", 3)
    first = guardian_of(fresh).pid
    for _ in range(5):
        assert works(fresh)
    assert until(lambda: fresh.processes().zygotes != (first,))
    assert until(lambda: gone(first))
