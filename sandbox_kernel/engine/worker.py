"""The host's hold on one worker process: its socket, its memory, its death."""

from __future__ import annotations

import os
import re
import signal
import socket
import sys
import threading
import time
from collections.abc import Callable

from ..wire import messages
from ..wire.control import Record
from ..wire.frame import Buffer, pack

_SCHEDULED = 2  # Linux makes the clock of a process from its number and this kind of time
_PEAK = re.compile(rb"VmPeak:\s*(\d+)")
_LARGE = 1 << 30  # no worker is born with more
_LARGEST = (1 << 42) - 1024  # that fits into a LIMIT message
_WAKE = b"".join(pack(messages.WAKE))
# What the worker holds at once of a message on its way in: receive buffer, text, decoded JSON, the
# realm's string; and of one on its way out: C string, bytes, the joined frame.
_COPIES_IN, _COPIES_OUT = 6, 4
_MESSAGE_SLACK = 64 * 2**20
_HAS_LIMITS = sys.platform == "linux"  # of address space that do what they say


class Worker:
    """Made when the zygote says that it forked; `kill` works on whatever the process is doing."""

    lingers = True

    def __init__(
        self, connection: socket.socket, pid: int, pidfd: int | None, born_with: int = 0
    ) -> None:
        """`born_with` are bytes mapped at its birth; it may have grown before we can look."""
        self.socket = connection
        self.descriptor = connection.fileno()  # event loops look sockets up by their lengthy repr
        self.pid = pid
        self._pidfd = pidfd
        self._lock = threading.Lock()
        self._status_descriptor = _open(f"/proc/{pid}/status")  # kept: a run's end waits for it
        self._born_with = born_with or self._mapped_at_peak()
        self._exit: Record | None = None
        self.awake = False
        self._killed = False
        self._on_exit: Callable[[Record], None] | None = None

    def wake(self) -> None:
        """Its order is about to follow; waking takes it about as long as writing that takes us."""
        self.awake = True
        self.send(_WAKE)

    def send(self, frame: bytes) -> None:
        """Something short."""
        try:
            self.socket.send(frame)
        except OSError:
            pass  # whoever sends the order will learn why

    def kill(self) -> None:
        with self._lock:
            if self._killed:
                return
            self._killed = True
            try:
                if self._pidfd is not None:
                    signal.pidfd_send_signal(self._pidfd, signal.SIGKILL)
                elif self._exit is None:
                    os.kill(self.pid, signal.SIGKILL)
            except (ProcessLookupError, OSError):
                pass

    def limit_address_space(self, extra: int) -> list[Buffer]:
        """To be sent before its order: it may have this much beyond what it was born with.

        It limits itself, for good, before it reads any source, or else it ends. A host that is root
        in a container may not limit processes that are nobody's.
        """
        if not _HAS_LIMITS:
            return []
        born_with = _LARGE if self._born_with is None else self._born_with
        return pack(messages.LIMIT, min(born_with + extra, _LARGEST) // 1024)

    def is_stopped(self) -> bool:
        """By a signal, so that it does nothing at all; False where the system does not tell."""
        return b"T (stopped)" in self._status()

    def growth(self) -> int | None:
        """Bytes mapped at the peak beyond those at birth; None where the system does not tell."""
        peak = self._mapped_at_peak()
        return None if peak is None or self._born_with is None else peak - self._born_with

    def processor_seconds(self) -> float | None:
        """What it has computed; None where the system does not tell, or when it has ended."""
        with self._lock:  # once reaped, its number may be another's
            if self._exit is not None or self._status_descriptor < 0:
                return None
            try:
                return time.clock_gettime((~self.pid << 3) | _SCHEDULED)
            except OSError:
                return None

    def _mapped_at_peak(self) -> int | None:
        found = _PEAK.search(self._status())
        return int(found[1]) * 1024 if found else None

    def _status(self) -> bytes:
        with self._lock:  # once closed, its number may be another's
            try:
                return os.pread(self._status_descriptor, 4096, 0)
            except OSError:
                return b""

    def exited(self, record: Record) -> None:
        """The zygote has reaped it."""
        with self._lock:
            self._exit = record
            callback = self._on_exit
            self._close_descriptors()
        if callback is not None:
            callback(record)

    def when_exited(self, callback: Callable[[Record], None]) -> None:
        """Calls back once, at once if it is dead already, from any thread."""
        with self._lock:
            self._on_exit = callback
            record = self._exit
        if record is not None:
            callback(record)

    def close(self) -> None:
        """Kills it too: a worker without its socket has nothing left to do."""
        self.kill()
        self.socket.close()
        with self._lock:
            self._close_descriptors()

    def forget(self) -> None:
        """In a fork of the host: the process is the parent's, and so are all locks."""
        self.socket.close()
        self._close_descriptors()

    def _close_descriptors(self) -> None:
        if self._pidfd is not None:
            os.close(self._pidfd)
            self._pidfd = None
        if self._status_descriptor >= 0:
            os.close(self._status_descriptor)
            self._status_descriptor = -1


def address_space(memory_limit: int, message_bytes: int) -> int:
    """What the operating system lets a worker grow by: well beyond its heap, for engines gone wrong."""
    return 3 * memory_limit + _MESSAGE_SLACK + message_bytes * _COPIES_OUT


def memory_of_messages(largest_sent: int, largest_received: int) -> int:
    """Memory that a worker needs for messages, which is not the guest's heap."""
    return _COPIES_IN * largest_sent + _COPIES_OUT * largest_received


def _open(path: str) -> int:
    """A descriptor to read from, or -1."""
    try:
        return os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return -1
