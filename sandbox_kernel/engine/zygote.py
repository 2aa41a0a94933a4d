"""The host's hold on its zygote: asks it for workers, hears how they ended, ends it."""

from __future__ import annotations

import array
import os
import select
import signal
import socket
import sys
import threading
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from functools import cache
from typing import Any

from ..isolation.bpf import AUDIT_NUMBERS
from ..wire import control
from .spawn import Spawned
from .worker import Worker

_QUIET_MILLISECONDS = 2000


@cache
def filters_system_calls() -> bool:
    """Whether workers have a filter of ours on this system; a run is not even sent to others."""
    return sys.platform == "linux" and os.uname().machine in AUDIT_NUMBERS


class ZygoteProcess:
    """One zygote and the workers it has forked. A thread listens to it."""

    def __init__(
        self,
        spawned: Spawned,
        on_worker: Callable[[ZygoteProcess, Worker], None],
        on_lost: Callable[[ZygoteProcess, str], None],
        on_exit: Callable[[ZygoteProcess, control.Record], None],
        on_quiet: Callable[[], None],
    ) -> None:
        """`on_quiet` is called after every two seconds in which it said nothing."""
        self.pid = spawned.pid
        self._control = spawned.control
        self._on_worker = on_worker
        self._on_lost = on_lost
        self._on_exit = on_exit
        self._on_quiet = on_quiet
        self._retired = False
        self.forks = 0  # that were asked for
        self._lock = threading.Lock()
        self._reaped = False
        self._pidfd = spawned.pidfd
        self._requested: deque[socket.socket] = deque()
        self._workers: dict[int, Worker] = {}
        self._thread = threading.Thread(target=self._listen, name="sandbox-zygote", daemon=True)
        self._thread.start()

    def request_worker(self, *, rehearsed: bool = False) -> None:
        """Asks for a fork; `on_worker` gets the worker, in the order of requests.

        A rehearsed one comes later and runs faster: see `worker/life.py`.
        """
        self.forks += 1
        what = control.REHEARSE_AND_FORK if rehearsed else control.FORK
        ours, theirs = socket.socketpair()
        ours.setblocking(False)
        rights = array.array("i", [theirs.fileno()])
        with self._lock:
            self._requested.append(ours)
            try:
                self._control.sendmsg([what], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, rights)])
            except OSError:
                pass  # it is dying; the listener will say so
        theirs.close()

    @property
    def requested(self) -> int:
        return len(self._requested)

    def owns(self, worker: Worker) -> bool:
        """Whether it forked this one, which lives."""
        return self._workers.get(worker.pid) is worker

    def retire(self) -> None:
        """Ends once none of its workers lives; then `on_lost` is called."""
        self._retired = True
        self._end_if_idle()

    def _end_if_idle(self) -> None:
        with self._lock:
            if self._retired and not self._workers and not self._requested:
                self._hang_up()

    def _listen(self) -> None:
        poll = select.poll()
        poll.register(self._control, select.POLLIN)
        while True:
            if not poll.poll(_QUIET_MILLISECONDS):
                self._on_quiet()
                continue
            try:
                data, ancillary, _, _ = self._control.recvmsg(
                    control.SIZE, socket.CMSG_SPACE(4), socket.MSG_WAITALL
                )
            except OSError:
                data, ancillary = b"", []
            if len(data) < control.SIZE:
                self._lost("the zygote ended")
                return
            record = control.Record.unpack(data)
            if record.kind == control.FORKED:
                self._forked(record, ancillary)
            elif record.kind == control.EXITED:
                self._exited(record)
            else:
                self._lost(self._control.recv(1000).decode("utf-8", "replace"))
                return

    def _forked(self, record: control.Record, ancillary: list[Any]) -> None:
        pidfd = None
        for level, kind, payload in ancillary:
            if (level, kind) == (socket.SOL_SOCKET, socket.SCM_RIGHTS):
                pidfd = array.array("i", payload)[0]
        with self._lock:  # in one piece, because it must not look idle meanwhile
            connection = self._requested.popleft()
            worker = Worker(connection, record.pid, pidfd, record.kilobytes * 1024)
            self._workers[record.pid] = worker
        self._on_worker(self, worker)

    def _exited(self, record: control.Record) -> None:
        worker = self._workers.pop(record.pid, None)
        if worker is not None:
            worker.exited(record)
        self._on_exit(self, record)
        self._end_if_idle()

    def _lost(self, reason: str) -> None:
        with self._lock:
            for connection in self._requested:
                connection.close()
            self._requested.clear()
        for worker in self._workers.values():
            worker.exited(control.Record(control.EXITED, worker.pid, 0, 0))
        self._workers.clear()
        self._on_lost(self, reason)

    def close(self) -> None:
        """Ends the process; the operating system ends its workers with it. Idempotent."""
        self._hang_up()
        if threading.current_thread() is not self._thread:
            self._thread.join(5)
        self._control.close()
        self._reap()

    def _hang_up(self) -> None:
        try:
            self._control.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass

    def _reap(self) -> None:
        """Once only: a process number that was waited for may soon be somebody else's."""
        with self._lock:
            if self._reaped:
                return
            self._reaped = True
        with suppress(ChildProcessError, ProcessLookupError):
            self._kill()  # it may be stopped, and then would never see its end
        self._close_pidfd()

    def _kill(self) -> None:
        if self._pidfd is None:
            os.kill(self.pid, signal.SIGKILL)
            os.waitpid(self.pid, 0)
        else:
            signal.pidfd_send_signal(self._pidfd, signal.SIGKILL)
            os.waitid(os.P_PIDFD, self._pidfd, os.WEXITED)

    def _close_pidfd(self) -> None:
        pidfd, self._pidfd = self._pidfd, None
        if pidfd is not None:
            os.close(pidfd)

    def forget(self) -> None:
        """In a fork of the host: the zygote is the parent's."""
        self._reaped = True
        self._control.close()
        self._close_pidfd()
