"""The filter really kills: a worker made to call what it must not dies of SIGSYS."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
from collections.abc import Callable

import pytest

from sandbox_kernel.worker.lockdown import Lockdown, filter_program

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

    def write_to_stdout() -> None:
        os.write(1, b"x")

    assert os.WEXITSTATUS(locked_down(write_to_stdout)) == 1  # EBADF, not output


def test_the_program_exists_for_both_architectures() -> None:
    assert len(filter_program("x86_64")) % 8 == len(filter_program("aarch64")) % 8 == 0


def test_the_parsed_declarations_are_current() -> None:
    code = """
from pathlib import Path
from sandbox_kernel.worker import quickjs_cdef
target = Path(quickjs_cdef.__file__).with_name('quickjs_abi.py')
assert quickjs_cdef.generate() == target.read_text(), 'run python -m sandbox_kernel.worker.quickjs_cdef'
"""
    subprocess.run([sys.executable, "-c", code], check=True)
