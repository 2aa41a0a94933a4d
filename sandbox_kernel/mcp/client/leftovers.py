"""Processes that a server started, and left behind when it ended.

The SDK ends those of a server that does not end by itself. Others are known by a variable of their
environment that only this server was given; a process that takes it away is a service of its own.
"""

from __future__ import annotations

import os
import secrets
import signal
from contextlib import suppress
from pathlib import Path

_NAME = "SANDBOX_KERNEL_SERVER"
_ROUNDS = 20  # what forks all the time is looked for again


class Mark:
    """Of all processes of one server."""

    def __init__(self) -> None:
        self._value = secrets.token_hex(16)

    @property
    def environment(self) -> dict[str, str]:
        return {_NAME: self._value}

    def end_all(self) -> None:
        """Does nothing where there is no /proc."""
        for _ in range(_ROUNDS):
            ended = [pid for pid in _pids() if self._end(pid)]
            if not ended:
                return

    def _end(self, pid: int) -> bool:
        """Whether it was one of them. It is looked at while it is held, so its number is not another's."""
        try:
            process = os.pidfd_open(pid)
        except (AttributeError, OSError):
            return False
        try:
            found = f"{_NAME}={self._value}".encode() in _environment(pid).split(b"\0")
            if found:
                with suppress(OSError):
                    signal.pidfd_send_signal(process, signal.SIGKILL)
            return found
        finally:
            os.close(process)


def _pids() -> list[int]:
    try:
        return [int(name) for name in os.listdir("/proc") if name.isdigit()]
    except OSError:
        return []


def _environment(pid: int) -> bytes:
    try:
        return Path(f"/proc/{pid}/environ").read_bytes()
    except OSError:
        return b""
