"""The host's hold on one place: a supervisor and its guest, and everything that leads to them."""

from __future__ import annotations

import os
import select
import signal
import socket
import threading
from contextlib import suppress
from time import monotonic
from typing import Any, NamedTuple

from ..errors import EngineError
from ..isolation.beneath import Directory
from . import protocol
from .protocol import Launch, Limits
from .spent import pid_of, spent_below

_PASSED = 3  # by a supervisor that is ready: the directory, its own process, the guest's


class Ends(NamedTuple):
    """Descriptors that are passed to the zygote: control, stdin, stdout, stderr, channel."""

    descriptors: tuple[int, int, int, int, int]

    def close(self) -> None:
        for descriptor in self.descriptors:
            os.close(descriptor)


class Signs:
    """When a zygote last showed that it works: a place of it became ready."""

    last = 0.0


class Place:
    """Asked for with `open_place`; `read_ready` tells when the guest waits, locked, for a program."""

    def __init__(
        self,
        launch: Launch,
        signs: Signs,
        control: socket.socket,
        channel: socket.socket,
        stdin: int,
        stdout: int,
        stderr: int,
    ) -> None:
        self.launch = launch
        self.signs = signs
        self.control = control
        self.channel = channel
        self.stdin: int | None = stdin
        self.stdout = stdout
        self.stderr = stderr
        self.directory: Directory | None = None
        self.owner: int | None = None  # whose the directory is; None for the host's user
        self.supervisor: int | None = None
        self.guest: int | None = None
        self._pid: int | None = None  # the supervisor's
        _open.add(self)

    @property
    def limits(self) -> Limits:
        return self.launch.limits

    @property
    def is_ready(self) -> bool:
        return self.directory is not None

    def read_ready(self) -> bool:
        """Whether it is ready; False if it has not said so yet. Raises EngineError if it cannot be."""
        if self.is_ready:
            return True
        try:
            message, passed = protocol.receive(self.control)
        except BlockingIOError:
            return False
        except OSError as error:
            raise EngineError(f"the program's supervisor is gone: {error.strerror}") from None
        if message is None:
            raise EngineError("the program's supervisor ended before it was ready")
        if "failed" in message:
            raise EngineError(f"no place for the program could be made: {message['failed']}")
        if len(passed) != _PASSED:  # Linux drops those that there is no room for
            for descriptor in passed:
                os.close(descriptor)
            raise EngineError("no descriptors are left for the program")
        directory, self.supervisor, self.guest = passed
        self.owner = message["owner"]
        self.directory = Directory(directory, is_ours=True)
        self.signs.last = monotonic()
        return True

    def check_alive(self) -> None:
        """A spare may have died while it waited. Raises EngineError."""
        poll = select.poll()
        for process in (self.supervisor, self.guest):
            poll.register(process or -1, select.POLLIN)
        if poll.poll(0):
            raise EngineError("the process that waited for the program is gone")

    def processor_seconds(self) -> float | None:
        """What the program has computed so far; None where the system does not tell. From any thread."""
        supervisor = self.supervisor
        if self._pid is None and supervisor is not None:
            self._pid = pid_of(supervisor)
        return None if self._pid is None else spent_below(self._pid)

    def read_end(self) -> bytes:
        """How it ended, as the supervisor says; nothing if that ended itself."""
        try:
            return self.control.recv(64)
        except ConnectionResetError:  # it left something unread; what it said comes after that
            return self.control.recv(64)
        except BlockingIOError:
            raise
        except OSError:
            return b""

    def close_stdin(self) -> None:
        stdin, self.stdin = self.stdin, None
        if stdin is not None:
            os.close(stdin)

    def stop(self) -> None:
        """Asks the supervisor to end everything; it reports then."""
        with suppress(OSError):
            self.control.send(protocol.STOP)

    def kill(self) -> None:
        """Without the supervisor's help, which may be stopped."""
        for process in (self.supervisor, self.guest):
            if process is not None:
                with suppress(OSError):
                    signal.pidfd_send_signal(process, signal.SIGKILL)

    def close(self) -> None:
        """The supervisor of a place that nobody holds ends it. Idempotent."""
        _open.discard(self)
        self.control.close()
        self.channel.close()
        self.close_stdin()
        for name in ("stdout", "stderr", "supervisor", "guest"):
            descriptor: int | None = getattr(self, name)
            if descriptor is not None and descriptor >= 0:
                os.close(descriptor)
                setattr(self, name, -1 if name.startswith("std") else None)
        if self.directory is not None:
            self.directory.close()


def open_place(launch: Launch, signs: Signs) -> tuple[Place, Ends]:
    """Our ends, and those for the zygote. May raise OSError, with nothing left open."""
    opened: list[int | socket.socket] = []
    try:
        control, their_control = _pair(opened, socket.SOCK_SEQPACKET)
        channel, their_channel = _pair(opened, socket.SOCK_STREAM)
        their_stdin, stdin = _pipe(opened)
        stdout, their_stdout = _pipe(opened)
        stderr, their_stderr = _pipe(opened)
    except OSError:
        for each in opened:
            each.close() if isinstance(each, socket.socket) else os.close(each)
        raise
    for descriptor in (stdin, stdout, stderr):
        os.set_blocking(descriptor, False)
    for connection in (control, channel):
        connection.setblocking(False)
    theirs = their_control.detach(), their_stdin, their_stdout, their_stderr, their_channel.detach()
    return Place(launch, signs, control, channel, stdin, stdout, stderr), Ends(theirs)


def _pair(opened: list[Any], kind: int) -> tuple[socket.socket, socket.socket]:
    ends = socket.socketpair(socket.AF_UNIX, kind)
    opened += ends
    return ends


def _pipe(opened: list[Any]) -> tuple[int, int]:
    ends = os.pipe2(os.O_CLOEXEC)
    opened += ends
    return ends


_open: set[Place] = set()
# Held while ends are on their way to the zygote: a fork of the host would keep copies of them.
passing = threading.Lock()


def _close_all() -> None:
    """In a fork of the host: they are the parent's, whose programs wait for the end of their input."""
    global passing
    passing = threading.Lock()
    for place in list(_open):
        place.close()


def _passed() -> None:
    passing.release()


os.register_at_fork(
    before=lambda: passing.acquire(), after_in_parent=_passed, after_in_child=_close_all
)
