"""Exits that are heard of while the process is still there, and can no longer do anything."""

from __future__ import annotations

import os
import select
import signal
import socket
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

import pytest

from sandbox_kernel.isolation import exits, prctl
from sandbox_kernel.isolation.steps import take
from tests.waiting import until

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="seccomp is Linux's")


class Child(NamedTuple):
    pid: int
    listener: int
    output: int  # of a pipe, whose other end it has

    def notice(self) -> exits.Notice:
        poll = select.poll()
        poll.register(self.listener, select.POLLIN)
        assert [event for _, event in poll.poll(20_000)] == [select.POLLIN]
        found = exits.next_notice(self.listener)
        assert found is not None
        return found


@contextmanager
def child(ending: Callable[[int], object]) -> Iterator[Child]:
    """A fork whose exit is held; `ending` is called in it with a descriptor to write to."""
    ours, theirs = socket.socketpair()
    output, writing = os.pipe()
    pid = os.fork()
    if not pid:
        os.close(output)
        take([prctl.no_new_privileges()])
        listener = exits.hold()
        if listener is not None:
            socket.send_fds(theirs, [b"!"], [listener])
            os.close(listener)
            ending(writing)
        os._exit(7)
    os.close(writing)
    theirs.close()
    _, passed, _, _ = socket.recv_fds(ours, 1, 1)
    ours.close()
    if not passed:
        pytest.skip("Linux is older than 5.19, or somebody listens already")
    (listener,) = passed
    try:
        yield Child(pid, listener, output)
    finally:
        os.close(listener)
        os.close(output)


def end_of(process: Child) -> int:
    return os.waitstatus_to_exitcode(os.waitpid(process.pid, 0)[1])


def state_of(pid: int) -> str:
    return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]


def test_a_process_that_exits_is_held_until_it_is_let_go() -> None:
    with child(lambda _: None) as held:
        notice = held.notice()
        assert (notice.pid, notice.status) == (held.pid, 7)
        assert os.waitpid(held.pid, os.WNOHANG) == (0, 0)
        exits.let_go(held.listener, notice)
        assert end_of(held) == 7


def test_no_handler_of_a_held_process_runs_any_more() -> None:
    def handle(writing: int) -> None:
        """The byte is written by Python's C code, at once."""
        os.set_blocking(writing, False)
        signal.signal(signal.SIGALRM, lambda *_: None)
        signal.set_wakeup_fd(writing)
        os.kill(os.getpid(), signal.SIGALRM)  # while it runs, it does

    with child(handle) as held:
        notice = held.notice()
        assert os.read(held.output, 9) == bytes([signal.SIGALRM])
        os.kill(held.pid, signal.SIGALRM)
        assert until(lambda: state_of(held.pid) == "D")  # a sleep that only its death interrupts
        exits.let_go(held.listener, notice)
        assert end_of(held) == 7
        assert os.read(held.output, 9) == b""


def test_a_held_process_can_be_killed() -> None:
    with child(lambda _: None) as held:
        notice = held.notice()
        os.kill(held.pid, signal.SIGKILL)
        assert end_of(held) == -signal.SIGKILL
        exits.let_go(held.listener, notice)  # too late, and no error


def test_a_fork_of_such_a_process_is_held_too() -> None:
    with child(lambda _: os.fork()) as held:
        notices = [held.notice()]
        exits.let_go(held.listener, notices[0])
        notices.append(held.notice())
        exits.let_go(held.listener, notices[1])
        assert held.pid in {notice.pid for notice in notices}
        assert end_of(held) == 7


def test_whoever_listens_is_told_when_nobody_is_left() -> None:
    with child(lambda _: os.kill(os.getpid(), signal.SIGKILL)) as killed:
        assert end_of(killed) == -signal.SIGKILL
        poll = select.poll()
        poll.register(killed.listener, select.POLLIN)
        assert [event for _, event in poll.poll(20_000)] == [select.POLLHUP]


def test_where_somebody_listens_already_nothing_is_held() -> None:
    with child(lambda writing: os.write(writing, repr(exits.hold()).encode())) as held:
        exits.let_go(held.listener, held.notice())
        assert os.read(held.output, 9) == b"None"
        assert end_of(held) == 7
