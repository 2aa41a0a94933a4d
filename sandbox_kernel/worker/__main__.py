"""The zygote: loads everything once, then forks a worker for each socket that the host sends.

It stays single-threaded and never sees guest text. Allocating memory, or touching it for the first
time, is slower in a worker than in the zygote, which does it once for all. So the zygote prepares
a `Life`, and a worker only runs it.
"""

from __future__ import annotations

import os
import resource
import select
import signal
import socket
import sys
from contextlib import suppress
from typing import NoReturn

from ..isolation import descriptors, rlimits
from ..wire import control, messages
from . import prefault
from .life import Life
from .lockdown import Lockdown
from .typescript import warm

_QUIET_MILLISECONDS = 100  # without a request, after which the zygote rehearses
_FORKS_BEFORE_REHEARSAL = 8  # after which it rehearses even if requests keep coming
_SOCKET, _RIGHTS, _ROOM_FOR_ONE = socket.SOL_SOCKET, socket.SCM_RIGHTS, socket.CMSG_SPACE(4)
_HAS_PIDFD = hasattr(os, "pidfd_open")


def main(control_descriptor: int, cpu_seconds: int) -> None:
    host = socket.socket(fileno=control_descriptor)
    os.environ.clear()
    descriptors.close_above(control_descriptor)
    rlimits.be_first_to_go()  # before its host, which may serve others too
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT):
        signal.signal(number, signal.SIG_IGN)
    try:
        zygote = Zygote(host, cpu_seconds)
    except Exception as error:
        host.sendall(control.pack(control.FAILED, 0, 0, 0) + repr(error).encode()[:1000])
        return
    try:
        zygote.serve()
    except OSError:
        pass  # the host is gone
    finally:
        os._exit(0)


class Zygote:
    """Forks workers on request and reports how they ended; exits when the host is gone."""

    def __init__(self, host: socket.socket, cpu_seconds: int) -> None:
        self._host = host
        self._claims: list[prefault.Range] = []
        self._rehearsed = False
        self._rehearsal: Life | None = None  # for workers that have no order yet
        self._forks = 0
        self._life = Life()
        self._lockdown = Lockdown(self._life.socket.fileno(), os.getpid(), cpu_seconds)
        warm()
        signal.signal(signal.SIGCHLD, lambda *_: None)
        self._own_peak = _peak_kilobytes()
        self._statm = _open_statm()
        self._lockdown.begin()  # last: what comes before may take rights to read files

    def serve(self) -> None:
        wake, waker = socket.socketpair()
        wake.setblocking(False)
        waker.setblocking(False)
        signal.set_wakeup_fd(waker.fileno(), warn_on_full_buffer=False)
        poll = select.poll()
        poll.register(self._host, select.POLLIN)
        poll.register(wake, select.POLLIN)
        try:
            while True:
                ready = poll.poll(None if self._rehearsed else _QUIET_MILLISECONDS)
                if not self._rehearsed and (not ready or self._forks >= _FORKS_BEFORE_REHEARSAL):
                    self._rehearse_once()
                for descriptor, _ in ready:
                    if descriptor == wake.fileno():
                        wake.recv(4096)
                    elif not self._fork_as_asked():
                        return
                self._reap()
        finally:
            signal.set_wakeup_fd(-1)  # before the socket is closed

    def _rehearse_once(self) -> None:
        if not self._rehearsed:
            self._rehearsed = True
            with suppress(Exception):  # without it workers are only slower
                self._rehearse()

    def _rehearse(self) -> None:
        """Rehearses here first, then in a child, to learn which pages a worker writes to."""
        try:
            self._rehearsed_life = (
                Life()
            )  # kept, because every worker would write to memory that it freed
            self._rehearsed_life.rehearse(self._lockdown)
            self._claims = prefault.learn(lambda: self._life.rehearse(self._lockdown))
            self._rehearsal = Life()
        finally:
            self._own_peak = _peak_kilobytes()

    def _fork_as_asked(self) -> bool:
        data, ancillary, _, _ = self._host.recvmsg(1, _ROOM_FOR_ONE)
        if not data:
            return False
        if data == control.REHEARSE_AND_FORK:
            self._rehearse_once()
        for level, kind, payload in ancillary:
            if level == _SOCKET and kind == _RIGHTS:
                self._fork(int.from_bytes(payload, sys.byteorder))
        return True

    def _fork(self, descriptor: int) -> None:
        self._forks += 1
        self._life.connect(descriptor)
        mapped = self._mapped_kilobytes()
        pid = os.fork()
        if not pid:
            self._be_worker()
        self._life.disconnect()
        record = control.pack(control.FORKED, pid, 0, mapped)
        if not _HAS_PIDFD:
            self._host.sendall(record)
            return
        pidfd = os.pidfd_open(pid)
        right = pidfd.to_bytes(4, sys.byteorder)
        self._host.sendmsg([record], [(_SOCKET, _RIGHTS, right)])
        os.close(pidfd)

    def _mapped_kilobytes(self) -> int:
        """The memory that a fork has mapped at birth; 0 if the system does not provide it."""
        if self._statm is None:
            return 0
        pages = int(os.pread(self._statm, 64, 0).split()[0])
        return pages * resource.getpagesize() // 1024

    def _reap(self) -> None:
        while True:
            try:
                pid, status, usage = os.wait4(-1, os.WNOHANG)
            except ChildProcessError:
                return
            if not pid:
                return
            peak = max(0, usage.ru_maxrss - self._own_peak)
            self._host.sendall(control.pack(control.EXITED, pid, status, peak))

    def _be_worker(self) -> NoReturn:
        try:
            self._life.run(self._lockdown, self._prepare)
            self._life.wait_for_the_end()
        except MemoryError:
            os._exit(messages.EXIT_MEMORY)
        except BaseException:
            os._exit(messages.EXIT_INTERNAL)
        os._exit(0)

    def _prepare(self) -> None:
        """Called in a worker that has no order yet, so that its run will be faster."""
        prefault.claim(self._claims)
        if self._rehearsal:
            with suppress(Exception):
                self._rehearsal.rehearse_run()


def _open_statm() -> int | None:
    try:
        return os.open("/proc/self/statm", os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return None


def _peak_kilobytes() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
