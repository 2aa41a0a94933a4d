"""The filter really kills: a worker made to call what it must not dies of SIGSYS."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
from collections.abc import Callable

import pytest

from sandbox_kernel.isolation.bpf import ALLOW, AUDIT_NUMBERS, KILL_PROCESS
from sandbox_kernel.worker.lockdown import ALLOWED_CALLS, Lockdown, filter_program
from tests.unit.isolation.interpreter import verdict

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="the filter is Linux's")


def locked_down(attack: Callable[[], object]) -> int:
    """Forks, locks down as a worker does, attacks; the wait status."""
    ours, theirs = socket.socketpair()
    lockdown = Lockdown(theirs.fileno(), os.getpid(), cpu_seconds=10)
    pid = os.fork()
    if not pid:
        try:
            lockdown.begin()
            lockdown.complete()
            attack()
        except BaseException:
            os._exit(1)
        os._exit(0)
    ours.close()
    theirs.close()
    return os.waitpid(pid, 0)[1]


ATTACKS: dict[str, Callable[[], object]] = {
    "open a file": lambda: os.open("/etc/passwd", os.O_RDONLY),
    "create a file": lambda: os.open("/tmp/x", os.O_CREAT | os.O_WRONLY),
    "list a folder": lambda: os.listdir("/"),
    "make a socket": lambda: socket.socket(),
    "start a program": lambda: os.execv("/bin/true", ["true"]),
    "fork": lambda: os.fork(),
    "kill its parent": lambda: os.kill(os.getppid(), signal.SIGTERM),
    "signal itself": lambda: os.kill(0, signal.SIGTERM),
    "read a link": lambda: os.readlink("/proc/self/exe"),
    "make a pipe": lambda: os.pipe(),
    "sleep": lambda: __import__("time").sleep(1),
    "change its limits": lambda: __import__("resource").getrlimit(0),
    "ask for its user": lambda: os.getuid(),
    "map executable memory": lambda: __import__("mmap").mmap(-1, 4096, prot=7),
    "remove a file": lambda: os.unlink("/tmp/x"),
    "become another user": lambda: os.setuid(1),
}


@pytest.mark.parametrize("name", ATTACKS)
def test_a_worker_that_tries_to(name: str) -> None:
    status = locked_down(ATTACKS[name])
    assert os.WIFSIGNALED(status), status
    assert os.WTERMSIG(status) == signal.SIGSYS


def test_computing_and_talking_are_allowed() -> None:
    assert locked_down(lambda: [0] * 10**6) == 0


def test_every_descriptor_but_the_socket_is_closed() -> None:
    assert os.WTERMSIG(locked_down(lambda: os.open("/dev/null", 0))) == signal.SIGSYS


WRITABLE, EXECUTABLE, OWN_MEMORY = 3, 4, 0x22
# Arguments that the filter allows for a call that it restricts.
SOUND: dict[str, tuple[int, ...]] = {
    "mmap": (0, 4096, WRITABLE, OWN_MEMORY, 2**32 - 1, 0),
    "mremap": (0, 4096, 8192, 1),
    "madvise": (0, 4096, 23),
    "futex": (0, 128),
    "prlimit64": (0, 9),
}


@pytest.mark.parametrize("machine", ALLOWED_CALLS)
def test_the_filter_allows_its_list_and_kills_for_the_rest(machine: str) -> None:
    program, audit = filter_program(machine), AUDIT_NUMBERS[machine]
    allowed = ALLOWED_CALLS[machine]
    for name, number in allowed.items():
        assert verdict(program, audit, number, *SOUND.get(name, ())) == ALLOW, name
    others = [n for n in (*range(2048), 2**31, 2**32 - 1) if n not in allowed.values()]
    for args in ((), *SOUND.values()):
        assert {verdict(program, audit, n, *args) for n in others} == {KILL_PROCESS}


# By call and number of the argument, the values that it may have; each is tried with all others sound.
RESTRICTED: dict[tuple[str, int], set[int]] = {
    ("mmap", 3): {OWN_MEMORY, OWN_MEMORY | 0x4000},  # MAP_NORESERVE
    ("mremap", 3): {1},  # MREMAP_MAYMOVE
    ("madvise", 2): {4, 8, 14, 23},  # DONTNEED, FREE, HUGEPAGE, POPULATE_WRITE
    ("futex", 1): {128, 129, 137, 393},  # private WAIT, WAKE, WAIT_BITSET by either clock
    ("prlimit64", 0): {0},  # itself
    ("prlimit64", 1): {9},  # RLIMIT_AS
    ("sendto", 3): {0},
    ("sendto", 4): {0},
    ("sendto", 5): {0},
    ("recvfrom", 3): {0, 0x40},  # MSG_DONTWAIT
    ("recvfrom", 4): {0},
    ("recvfrom", 5): {0},
}
TRIED = [*range(512), *(1 << bit for bit in range(9, 32)), *(0x22 | 1 << bit for bit in range(32))]


@pytest.mark.parametrize("machine", ALLOWED_CALLS)
@pytest.mark.parametrize(("call", "argument"), RESTRICTED)
def test_the_filter_allows_a_call_only_with_the_arguments_it_needs(
    machine: str, call: str, argument: int
) -> None:
    program, audit = filter_program(machine), AUDIT_NUMBERS[machine]
    number, expected = ALLOWED_CALLS[machine][call], RESTRICTED[call, argument]
    args = [*SOUND.get(call, ()), *[0] * 6][:6]
    found = set()
    for value in TRIED:
        args[argument] = value
        if verdict(program, audit, number, *args) == ALLOW:
            found.add(value)
    assert found == expected


@pytest.mark.parametrize("machine", ALLOWED_CALLS)
@pytest.mark.parametrize("call", ["mmap", "mprotect"])
def test_the_filter_kills_for_executable_memory(machine: str, call: str) -> None:
    program, audit, number = (
        filter_program(machine),
        AUDIT_NUMBERS[machine],
        ALLOWED_CALLS[machine][call],
    )
    for rights in range(64):
        expected = KILL_PROCESS if rights & EXECUTABLE else ALLOW
        assert verdict(program, audit, number, 0, 4096, rights, OWN_MEMORY) == expected
        assert verdict(program, audit, number, 0, 4096, rights | 7 << 32, OWN_MEMORY) == expected
    # Address, length, descriptor and offset do not count.
    assert verdict(program, audit, number, 7, 7, WRITABLE, OWN_MEMORY, 7, 7) == ALLOW


@pytest.mark.parametrize("machine", ALLOWED_CALLS)
def test_the_filter_kills_for_calls_of_another_architecture(machine: str) -> None:
    program = filter_program(machine)
    for architecture in {0, 0x40000003, *AUDIT_NUMBERS.values()} - {AUDIT_NUMBERS[machine]}:
        assert {verdict(program, architecture, n) for n in range(512)} == {KILL_PROCESS}


@pytest.mark.parametrize("machine", ALLOWED_CALLS)
def test_the_filter_kills_for_the_x32_table(machine: str) -> None:
    program, audit = filter_program(machine), AUDIT_NUMBERS[machine]
    assert {verdict(program, audit, n | 0x40000000) for n in range(1024)} == {KILL_PROCESS}


@pytest.mark.parametrize("module", ["worker.quickjs_cdef", "isolation.libc_cdef"])
def test_the_parsed_declarations_are_current(module: str) -> None:
    """In a process of its own: the parser of C warns, and would stay loaded."""
    code = f"""
from pathlib import Path
from sandbox_kernel.isolation.abi import generate
from sandbox_kernel.{module} import DECLARATIONS, __file__ as here
target = Path(here.replace('_cdef.py', '_abi.py'))
assert generate(target.stem, DECLARATIONS) == target.read_text(), 'run python -m sandbox_kernel.{module}'
"""
    subprocess.run([sys.executable, "-c", code], check=True)


def test_locking_down_does_not_load_the_engine() -> None:
    code = """
import sys
from sandbox_kernel.worker import lockdown, prefault
assert not [name for name in sys.modules if 'quickjs' in name or name.startswith('pycparser')]
"""
    subprocess.run([sys.executable, "-c", code], check=True)
