"""The host's side of the zygote: a fresh interpreter with nothing of ours in it."""

from __future__ import annotations

import array
import importlib.util
import os
import signal
import socket
import sys
import threading
from collections import deque
from collections.abc import Callable
from functools import cache
from typing import Any

from ..errors import EngineError
from ..wire import control
from .worker import Worker

# Without collections of garbage: they would write to pages that all workers share.
_BOOT = (
    "import gc, sys; gc.disable(); sys.path[:0] = {paths!r};"
    " from sandbox_kernel.worker.__main__ import main; main({fd}, {cpu})"
)
_NEEDED = ("sandbox_kernel", "_cffi_backend", "_quickjs", "tree_sitter", "tree_sitter_typescript")
_CONTROL_DESCRIPTOR = 3
_ENVIRONMENT = {
    # Symbols are looked up once, by the loader, not by every worker that is first to need one.
    "LD_BIND_NOW": "1",
    # Heaps grow by large pages where the system offers them: first touch of memory costs less.
    "GLIBC_TUNABLES": "glibc.malloc.hugetlb=1",
}


@cache
def filters_system_calls() -> bool:
    """Whether workers have a filter of ours on this system; a job is not even sent to others."""
    return sys.platform == "linux" and os.uname().machine in ("x86_64", "aarch64")


class ZygoteProcess:
    """Spawned without the host's environment, in a process session that no terminal signals reach."""

    def __init__(
        self,
        cpu_seconds: int,
        on_worker: Callable[[Worker], None],
        on_lost: Callable[[ZygoteProcess, str], None],
    ) -> None:
        self._on_worker = on_worker
        self._on_lost = on_lost
        self._lock = threading.Lock()
        self._requested: deque[socket.socket] = deque()
        self._workers: dict[int, Worker] = {}
        ours, theirs = socket.socketpair()
        self._control = ours
        self.pid = _spawn(theirs.fileno(), cpu_seconds)
        theirs.close()
        self._thread = threading.Thread(target=self._listen, name="sandbox-zygote", daemon=True)
        self._thread.start()

    def request_worker(self) -> None:
        """Asks for a fork; `on_worker` gets the worker, in the order of requests."""
        ours, theirs = socket.socketpair()
        ours.setblocking(False)
        rights = array.array("i", [theirs.fileno()])
        with self._lock:
            self._requested.append(ours)
            try:
                self._control.sendmsg([b"F"], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, rights)])
            except OSError:
                pass  # it is dying; the listener will say so
        theirs.close()

    @property
    def requested(self) -> int:
        return len(self._requested)

    def _listen(self) -> None:
        while True:
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
                worker = self._workers.pop(record.pid, None)
                if worker is not None:
                    worker.exited(record)
            else:
                self._lost(self._control.recv(1000).decode("utf-8", "replace"))
                return

    def _forked(self, record: control.Record, ancillary: list[Any]) -> None:
        with self._lock:
            connection = self._requested.popleft()
        pidfd = None
        for level, kind, payload in ancillary:
            if (level, kind) == (socket.SOL_SOCKET, socket.SCM_RIGHTS):
                pidfd = array.array("i", payload)[0]
        worker = Worker(connection, record.pid, pidfd)
        self._workers[record.pid] = worker
        self._on_worker(worker)

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
        """Its end of file is the zygote's end; the kernel ends the workers with it."""
        try:
            self._control.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass
        if threading.current_thread() is not self._thread:
            self._thread.join(5)
        self._control.close()
        try:
            os.kill(self.pid, signal.SIGKILL)  # it may be stopped, and then would never see its end
            os.waitpid(self.pid, 0)
        except (ChildProcessError, ProcessLookupError):
            pass

    def forget(self) -> None:
        """In a fork of the host: the zygote is the parent's."""
        self._control.close()


def _spawn(descriptor: int, cpu_seconds: int) -> int:
    code = _BOOT.format(paths=_paths(), fd=_CONTROL_DESCRIPTOR, cpu=cpu_seconds)
    argv = [sys.executable, "-I", "-S", "-c", code]
    actions: list[tuple[Any, ...]] = [
        (os.POSIX_SPAWN_OPEN, 0, os.devnull, os.O_RDWR, 0),
        (os.POSIX_SPAWN_OPEN, 1, os.devnull, os.O_RDWR, 0),
        (os.POSIX_SPAWN_DUP2, descriptor, _CONTROL_DESCRIPTOR),
    ]
    if not sys.executable:
        raise EngineError("there is no Python interpreter to start the zygote with")
    return os.posix_spawn(sys.executable, argv, _ENVIRONMENT, file_actions=actions, setsid=True)


def _paths() -> list[str]:
    """Only the folders of what the worker needs: not the user's path, no start-up code."""
    folders: list[str] = []
    for name in _NEEDED:
        spec = importlib.util.find_spec(name)
        if spec is None or spec.origin is None:
            raise EngineError(f"the package {name} is not installed")
        folder = os.path.dirname(os.path.abspath(spec.origin))
        if spec.submodule_search_locations is not None:
            folder = os.path.dirname(folder)
        if folder not in folders:
            folders.append(folder)
    return folders
