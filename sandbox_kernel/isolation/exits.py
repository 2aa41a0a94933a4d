"""Hearing that a process exits when it can no longer run, which is before its memory is given back.

Giving back the memory of a loaded interpreter takes milliseconds. A filter with a listener holds a
process in `exit_group`, until whoever listens lets it go on. From the moment that the listener has
heard of it, nothing but its death can interrupt that, so none of its signal handlers runs any more.
"""

from __future__ import annotations

import fcntl
import os
import struct
from typing import NamedTuple

from . import bpf
from .prctl import filter_header
from .system import call

_SET_MODE_FILTER = 1
# The second flag: once it is heard of, only a signal that kills ends the wait (Linux 5.19).
_FLAGS = 1 << 3 | 1 << 5  # SECCOMP_FILTER_FLAG_NEW_LISTENER and _WAIT_KILLABLE_RECV
_EXIT_GROUP = {"x86_64": 231, "aarch64": 94}
_RECEIVE, _SEND = 0xC0502100, 0xC0182101  # SECCOMP_IOCTL_NOTIF_RECV and _SEND
_NOTICE = struct.Struct("=QII iI Q 6Q")  # struct seccomp_notif
_REPLY = struct.Struct("=Qqii")  # struct seccomp_notif_resp
_CONTINUE = 1


class Notice(NamedTuple):
    """A process that is held in its last system call, and the status that it exits with."""

    id: int
    pid: int  # in the namespace of whoever listens
    status: int


def hold() -> int | None:
    """Holds the exits of this process and of all that it forks; the descriptor of the listener.

    None where Linux is too old, or where whoever runs this machine listens already: there can be one
    listener only. It needs `no_new_privileges`, and has to come before filters that forbid it.
    """
    machine = os.uname().machine
    exits = {"exit_group": _EXIT_GROUP[machine]}
    rules = {"exit_group": bpf.always(bpf.NOTIFY)}
    header, _memory = filter_header(bpf.assemble(machine, exits, rules, bpf.ALLOW))
    try:
        return call("seccomp", _SET_MODE_FILTER, _FLAGS, header)
    except OSError:
        return None


def next_notice(listener: int) -> Notice | None:
    """For a listener that is readable. None if a signal came first: the process will try again."""
    data = bytearray(_NOTICE.size)
    try:
        fcntl.ioctl(listener, _RECEIVE, data)
    except FileNotFoundError:
        return None
    number, pid, _, _, _, _, status, *_ = _NOTICE.unpack(data)
    return Notice(number, pid, status & 0xFF)


def let_go(listener: int, notice: Notice) -> None:
    """It goes on to its end. Nothing happens if it was killed meanwhile."""
    try:
        fcntl.ioctl(listener, _SEND, _REPLY.pack(notice.id, 0, 0, _CONTINUE))
    except FileNotFoundError:
        pass
