"""Each layer is what stops something: with it alone taken away, that gets through."""

from __future__ import annotations

import os
import resource
import signal
import subprocess
from collections.abc import Mapping
from contextlib import suppress
from types import MappingProxyType
from typing import Any, NamedTuple

import pytest

from sandbox_kernel.errors import IsolationError
from sandbox_kernel.programs import ProgramResult, Programs, spawn
from sandbox_kernel.run import run_program
from tests.programs.conftest import SETTLE_SECONDS
from tests.programs.test_escapes import ROOT, command, environment
from tests.programs.weakened import programs_without
from tests.waiting import until

NAMESPACES, LANDLOCK = "namespaces", "landlock"
MIB = 2**20
HELD, THROUGH = "held", "through"


class Probe(NamedTuple):
    """Code that raises as long as the layer is there."""

    layer: str
    levels: tuple[str, ...]
    code: str
    options: Mapping[str, Any] = MappingProxyType({})
    traits: Mapping[str, Any] = MappingProxyType({})
    takes_root: bool = False


def both(layer: str, code: str, **more: Any) -> Probe:
    return Probe(layer, (NAMESPACES, LANDLOCK), code, **more)


PROBES = [
    Probe("landlock", (LANDLOCK,), "open('/etc/passwd').read()"),
    Probe("landlock", (NAMESPACES,), "os.listdir('/')"),
    both("filter", "socket.socket(socket.AF_INET, socket.SOCK_DGRAM)"),
    both("filter", "os.memfd_create('x')"),
    both(f"limit {resource.RLIMIT_NOFILE}", "kept = [open(os.devnull) for _ in range(400)]"),
    both(f"limit {resource.RLIMIT_FSIZE}", "open('big', 'wb').truncate(300 << 20)"),
    both(
        f"limit {resource.RLIMIT_DATA}",
        "kept = mmap.mmap(-1, 300 << 20, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)",
        options={"memory_limit_bytes": 200 * MIB},
    ),
    both(f"limit {resource.RLIMIT_AS}", "kept = mmap.mmap(-1, 2 << 30)"),
    both(f"limit {resource.RLIMIT_MEMLOCK}", "assert libc.mlock(buffer, 9999) == 0"),
    Probe(
        f"limit {resource.RLIMIT_CORE}",
        (NAMESPACES,),
        "assert open('/proc/self/limits').read().split('core file size')[1].split()[0] != '1'",
    ),
    both("user", "assert os.getuid() == 0", takes_root=True),
    both("capabilities", "assert libc.prctl(23, 21, 0, 0, 0) == 1", takes_root=True),
    both("descriptors", "assert any(map(is_open, range(4, 200)))"),
    Probe(
        "files",
        (NAMESPACES,),
        "[open(f'f{n}', 'wb').write(b'x' * (5 << 20)) for n in range(2)]",
        traits={"directory_bytes": 8 * MIB},
    ),
    Probe(
        "files",
        (NAMESPACES,),
        "[open(f'f{n}', 'w').close() for n in range(200)]",
        traits={"directory_files": 100},
    ),
]

PROGRAM = """
import ctypes, mmap, os, socket, threading, time
libc, buffer = ctypes.CDLL(None, use_errno=True), ctypes.create_string_buffer(9999)
def is_open(number):
    try:
        return bool(os.fstat(number))
    except OSError:
        return False
try:
    {code}
    print('through')
except (OSError, MemoryError, RuntimeError, AssertionError):
    print('held')
"""


def result_of(code: str, engine: Programs, **options: Any) -> ProgramResult:
    return run_program(code, engine=engine, **options).wait(SETTLE_SECONDS)


def said(probe: Probe, engine: Programs) -> str:
    result = result_of(PROGRAM.format(code=probe.code), engine, **probe.options)
    assert result.exit_code == 0, result
    return result.stdout.strip()


@pytest.fixture(scope="session")
def namespaces(level: str) -> None:
    if level != NAMESPACES:
        pytest.skip("of the other level")


@pytest.fixture(scope="session")
def landlock(level: str) -> None:
    if level != LANDLOCK:
        pytest.skip("of the other level")


@pytest.mark.parametrize("probe", PROBES, ids=lambda probe: probe.layer.replace(" ", "_"))
def test_a_layer_stops_what_gets_through_without_it(
    probe: Probe, programs: Programs, level: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    if level not in probe.levels:
        pytest.skip("the layer is of the other level")
    if probe.takes_root and os.getuid():
        pytest.skip("takes root")
    if probe.traits:
        with Programs(isolation=level, spares=0, **probe.traits) as whole:
            assert said(probe, whole) == HELD
    else:
        assert said(probe, programs) == HELD
    with programs_without(probe.layer, level, monkeypatch, **probe.traits) as weak:
        assert said(probe, weak) == THROUGH


@pytest.mark.usefixtures("namespaces")
@pytest.mark.parametrize("kind", ["net", "ipc", "uts", "cgroup"])
def test_a_program_has_namespaces_of_its_own(
    kind: str, programs: Programs, monkeypatch: pytest.MonkeyPatch
) -> None:
    code = f"import os; print(os.readlink('/proc/self/ns/{kind}'))"
    ours, name = os.readlink(f"/proc/self/ns/{kind}"), os.uname().nodename
    assert result_of(code, programs).stdout.strip() != ours
    with programs_without(f"namespace {kind}", NAMESPACES, monkeypatch) as weak:
        assert result_of(code, weak).stdout.strip() == ours
    assert os.uname().nodename == name


LEAVES_AN_ORPHAN = """
import os, time
print(os.readlink('/proc/self/ns/mnt'))
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        os.closerange(0, 4)
        time.sleep(600)
    os._exit(0)
os.wait()
"""


def users_of(mounts: str) -> list[int]:
    """The processes that have this namespace of mounts."""
    found = []
    for name in filter(str.isdigit, os.listdir("/proc")):
        with suppress(OSError):
            if os.readlink(f"/proc/{name}/ns/mnt") == mounts:
                found.append(int(name))
    return found


@pytest.mark.usefixtures("namespaces")
@pytest.mark.skipif(os.getuid() != 0, reason="takes root")
def test_without_processes_of_its_own_what_a_program_leaves_outlives_it(
    programs: Programs, monkeypatch: pytest.MonkeyPatch
) -> None:
    ended = result_of(LEAVES_AN_ORPHAN, programs).stdout.strip()
    assert until(lambda: users_of(ended) == [])
    with programs_without("processes", NAMESPACES, monkeypatch) as weak:
        left = result_of(LEAVES_AN_ORPHAN, weak).stdout.strip()
        assert left != os.readlink("/proc/self/ns/mnt")  # or all would be ended below
        try:
            assert until(lambda: len(users_of(left)) == 1)  # its supervisor is gone
        finally:
            for pid in users_of(left):
                os.kill(pid, signal.SIGKILL)


@pytest.mark.usefixtures("namespaces")
def test_without_mounts_of_its_own_a_program_has_those_of_the_one_before(
    programs: Programs, monkeypatch: pytest.MonkeyPatch
) -> None:
    code = "print(len(open('/proc/self/mountinfo').readlines()))"
    first, second = (int(result_of(code, programs).stdout) for _ in range(2))
    assert first == second
    with programs_without("mounts", NAMESPACES, monkeypatch) as weak:
        first, second = (int(result_of(code, weak).stdout) for _ in range(2))
        assert first < second


def said_by_a_neighbour(layer: str) -> str:
    """Of a program whose threads are many, in a host that is nobody and lacks the layer."""
    words = command("nobody" if os.getuid() == 0 else "itself", "tests.programs.neighbours", layer)
    if words is None:
        pytest.skip("takes setpriv, and an interpreter that everybody can start")
    done = subprocess.run(
        words, capture_output=True, text=True, timeout=120, cwd=ROOT, env=environment()
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


@pytest.mark.usefixtures("namespaces")
def test_without_users_of_its_own_a_programs_threads_are_its_neighbours_too() -> None:
    if (whole := said_by_a_neighbour("nothing")).startswith("IsolationError"):
        pytest.skip(whole)
    assert whole == THROUGH
    assert said_by_a_neighbour("users") == HELD
    assert "unshare: Operation not permitted" in said_by_a_neighbour("all_users")


@pytest.mark.usefixtures("namespaces")
def test_without_the_limit_of_processes_a_program_has_more_threads(
    programs: Programs, monkeypatch: pytest.MonkeyPatch
) -> None:
    code = (
        "[threading.Thread(target=time.sleep, args=(9,), daemon=True).start() for _ in range(80)]"
    )
    program = PROGRAM.format(code=code)
    assert result_of(program, programs).stdout.strip() == HELD
    layer = f"limit {resource.RLIMIT_NPROC}"
    with programs_without(layer, NAMESPACES, monkeypatch) as weak:
        assert result_of(program, weak).stdout.strip() != HELD  # the sampler may have seen it


def test_without_the_sampler_shared_memory_is_not_counted(
    programs: Programs, level: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    options = {"memory_limit_bytes": 32 * MIB}
    code = """
import mmap, time
shared, mib = mmap.mmap(-1, 200 << 20), b'x' * (1 << 20)
for _ in range(200):
    shared.write(mib)
time.sleep(0.5)
"""
    result = result_of(code, programs, **options)
    assert (result.oom, result.exit_code, result.killed) == (True, 137, False)
    with programs_without("sampler", level, monkeypatch) as weak:
        assert result_of(code, weak, **options).exit_code == 0


@pytest.mark.usefixtures("landlock")
def test_without_the_limit_of_processor_time_only_the_clock_ends_a_loop(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with Programs(isolation=LANDLOCK, spares=0, cpu_seconds=1) as whole:
        result = result_of("while True: pass", whole)
        assert (result.killed, result.reason) == (True, "processor limit of 1 s")
    with programs_without("cpu", LANDLOCK, monkeypatch, cpu_seconds=1) as weak:
        result = result_of("while True: pass", weak, timeout_ms=2500)
        assert (result.killed, result.reason) == (True, "time limit of 2500 ms")


def test_nothing_runs_where_new_privileges_could_be_had(
    level: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with (
        programs_without("privileges", level, monkeypatch) as weak,
        pytest.raises(IsolationError, match=r"system-call filter|landlock_restrict_self"),
    ):
        weak.doctor()


@pytest.mark.usefixtures("namespaces")
def test_a_program_has_the_environment_that_its_zygote_was_started_with(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    code = "print('SECRET' in open('/proc/self/environ').read())"
    monkeypatch.setenv("SECRET", "of the host")
    with Programs(isolation=NAMESPACES, spares=0) as whole:
        assert result_of(code, whole).stdout == "False\n"
    monkeypatch.setattr(spawn, "_ENVIRONMENT", {"SECRET": "of the host"})
    with Programs(isolation=NAMESPACES, spares=0) as weak:
        assert result_of(code, weak).stdout == "True\n"
