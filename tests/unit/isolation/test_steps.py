"""Steps are taken in order, and the first one that fails ends them."""

from __future__ import annotations

import errno
import os
import signal
import sys
from collections.abc import Callable
from resource import RLIMIT_CORE, RLIMIT_NPROC, getrlimit

import pytest

from sandbox_kernel.errors import IsolationError
from sandbox_kernel.isolation import bpf, descriptors, prctl, rlimits
from sandbox_kernel.isolation.steps import Step, take


def in_a_fork(check: Callable[[], bool]) -> int:
    """The exit code of a fork that evaluates the check: 0 if it holds."""
    pid = os.fork()
    if not pid:
        try:
            os._exit(0 if check() else 1)
        except BaseException:
            os._exit(2)
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])


def test_a_step_that_fails_is_named_and_nothing_is_taken_after_it() -> None:
    taken: list[int] = []
    steps = [
        Step("the first", taken.append, (1,)),
        Step("the second", lambda: -1, (), 0),
        Step("the third", taken.append, (3,)),
    ]
    with pytest.raises(IsolationError, match="the second failed"):
        take(steps)
    assert taken == [1]


def test_a_limit_holds_and_cannot_be_raised() -> None:
    def limited() -> bool:
        take([rlimits.at_most(RLIMIT_CORE, 0), rlimits.at_most(RLIMIT_NPROC, 7)])
        return getrlimit(RLIMIT_CORE) == (0, 0) and getrlimit(RLIMIT_NPROC) == (7, 7)

    assert in_a_fork(limited) == 0


def test_every_descriptor_but_one_is_closed() -> None:
    reading, writing = os.pipe()

    def closed() -> bool:
        take(descriptors.close_all_but(writing, 256))
        os.write(writing, b"x")
        try:
            os.fstat(reading)
        except OSError:
            return True
        return False

    assert in_a_fork(closed) == 0
    assert os.read(reading, 1) == b"x"
    os.close(reading)
    os.close(writing)


def test_inherited_descriptors_are_closed_and_those_below_are_kept() -> None:
    low, high = sorted(os.pipe())

    def closed() -> bool:
        descriptors.close_above(low)
        os.fstat(low)
        try:
            os.fstat(high)
        except OSError:
            return True
        return False

    assert in_a_fork(closed) == 0
    os.close(low)
    os.close(high)


@pytest.mark.skipif(sys.platform != "linux", reason="prctl is Linux's")
def test_a_parent_that_has_died_is_noticed() -> None:
    take([prctl.has_parent(os.getppid())])
    with pytest.raises(IsolationError, match="checking the parent process failed"):
        take([prctl.has_parent(os.getppid() + 1)])


@pytest.mark.skipif(sys.platform != "linux", reason="prctl is Linux's")
def test_a_filter_is_installed() -> None:
    """One that allows everything but `getppid`, which then fails as told."""
    calls = {str(number): number for number in range(470)}
    number = {"x86_64": 110, "aarch64": 173}[os.uname().machine]
    refused = {str(number): bpf.Rule((bpf.Condition(0, ()),), bpf.errno(errno.EPERM))}
    program = bpf.assemble(os.uname().machine, calls, refused)

    def refuses() -> bool:
        take([prctl.no_new_privileges(), prctl.filter_system_calls(program)])
        return os.getppid() < 0

    assert in_a_fork(refuses) == 0


@pytest.mark.skipif(sys.platform != "linux", reason="prctl is Linux's")
def test_a_process_ends_with_its_parent() -> None:
    reading, writing = os.pipe()
    pid = os.fork()
    if not pid:
        take([prctl.not_dumpable(), prctl.signal_at_parents_death(signal.SIGKILL)])
        if not os.fork():
            take([prctl.signal_at_parents_death(signal.SIGKILL)])
            os.write(writing, b"x")
            while True:
                signal.pause()
        os.close(writing)
        os.read(reading, 1)
        os._exit(0)
    os.close(writing)
    os.waitpid(pid, 0)
    assert os.read(reading, 1) == b""  # the last holder of the other end is gone
    os.close(reading)
