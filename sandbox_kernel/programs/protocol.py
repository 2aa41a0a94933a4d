"""What host, zygote, supervisor and guest say to each other about one program.

    host → zygote        BOOT          where to import from, which level; then a LAUNCH for each program
    zygote → host        ready, or why it is not
    supervisor → host    ready, with descriptors of the directory and both processes; at last the End
    host → supervisor    GO            the time limit, which counts from now; or STOP
                         ASKING        a person is asked: only processor time counts, until ANSWERED
    host → guest         JOB           the program; ANSWER or FAILURE to each CALL
    guest → host         RESULT, CALL, OUT_OF_MEMORY: frames of `wire.frame`, hostile like all that a guest says

The first four travel as packets of JSON, from and to processes that never see a program's text.
"""

from __future__ import annotations

import array
import json
import os
import socket
import struct
from collections.abc import Sequence
from typing import Any, NamedTuple

NAMESPACES, LANDLOCK, PROCESS = "namespaces", "landlock", "process"  # the levels, strongest first

JOB, RESULT, OUT_OF_MEMORY = 1, 2, 3  # kinds of frames on the guest's channel
CALL, ANSWER, FAILURE = 4, 5, 6  # of a tool
MOST_CALLS = 1_000  # under way at once
RESULT_BYTES = 4 * 2**20  # the largest result that crosses
MESSAGE_BYTES = 2 * RESULT_BYTES  # the largest message

_LARGEST_PACKET = 1 << 16
_MOST_DESCRIPTORS = 8
_GO = struct.Struct("<cQ")
STOP, ASKING, ANSWERED = b"S", b"A", b"R"


class Limits(NamedTuple):
    """What the operating system, the supervisor and the directory hold a program to."""

    memory_bytes: int
    processes: int
    open_files: int
    cpu_seconds: int
    directory_bytes: int
    directory_files: int

    @property
    def open_files_of_all(self) -> int:
        """Of all processes together: what lies in pipes and sockets counts as nobody's memory."""
        return 8 * self.open_files


class Launch(NamedTuple):
    """A place for one program. The folder is a name in the zygote's own, where there is no tmpfs."""

    limits: Limits
    user: int | None
    folder: str | None
    session: str | None = None  # whose workspace is its directory
    installed: str | None = None  # the folder of what it installs

    def spell(self) -> dict[str, Any]:
        return self._asdict()

    @classmethod
    def of(cls, message: dict[str, Any]) -> Launch:
        return cls(**(message | {"limits": Limits(*message["limits"])}))


class Binary(NamedTuple):
    """A Node.js or Deno, the files that it maps, and the bytes that it holds when it does nothing."""

    runtime: str
    path: str
    files: tuple[str, ...]
    data_bytes: int
    resident_bytes: int
    version: str

    @property
    def loader(self) -> str | None:
        """What Linux starts it with."""
        return next((file for file in self.files if os.path.basename(file).startswith("ld-")), None)


class Packages(NamedTuple):
    """Installed packages that are lent: relative paths with their sources, and what is preloaded."""

    entries: tuple[tuple[str, str], ...]
    modules: tuple[str, ...]
    identity: (
        str  # of what is installed, so that something else in the same place is not taken for it
    )


class Grant(NamedTuple):
    """A path of the host's that a program may use under a name: absolute, or in its directory."""

    name: str
    source: str
    writes: bool
    is_folder: bool
    everything: bool  # one of all there is, whether it can be used or not


class Grants(NamedTuple):
    """What one program is allowed beyond all others; it has a zygote for itself then."""

    paths: tuple[Grant, ...] = ()
    net: bool = False

    def __bool__(self) -> bool:
        return bool(self.paths or self.net)

    @classmethod
    def of(cls, message: list[Any]) -> Grants:
        paths, net = message
        return cls(tuple(Grant(*each) for each in paths), net)


class Kind(NamedTuple):
    """What all programs of one zygote may have beside the standard library."""

    binary: Binary | None = None  # what its programs are run by; None for Python
    workspaces: str | None = None  # the root of those that they may be started in
    packages: Packages | None = None
    grants: Grants = Grants()
    installs: str | None = None  # the root of folders of what they install

    @classmethod
    def of(cls, message: list[Any]) -> Kind:
        binary, workspaces, packages, grants, installs = message
        return cls(
            Binary(*binary) if binary else None,
            workspaces,
            Packages(*packages) if packages else None,
            Grants.of(grants),
            installs,
        )


ENDED, TIME, MEMORY, DISK, THREADS, OPEN_FILES, ASKED = range(7)  # why a supervisor ended the tree


class End(NamedTuple):
    """How a program ended, when nothing of its tree can run any more."""

    status: int  # as `wait` gives it
    why: int
    cpu_milliseconds: int

    def pack(self) -> bytes:
        return _END.pack(*self)

    @classmethod
    def unpack(cls, data: bytes) -> End | None:
        """None if this is not one."""
        return cls(*_END.unpack(data)) if len(data) == _END.size else None


_END = struct.Struct("<iiq")


def pack_go(milliseconds: int) -> bytes:
    return _GO.pack(b"G", milliseconds)


def unpack_go(data: bytes) -> int | None:
    """The time limit; None if this does not say go."""
    return int(_GO.unpack(data)[1]) if len(data) == _GO.size else None


def send(to: socket.socket, message: dict[str, Any], descriptors: Sequence[int] = ()) -> None:
    """One packet, with descriptors."""
    rights = (socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", descriptors))
    to.sendmsg([json.dumps(message).encode()], [rights] if descriptors else [])


def receive(source: socket.socket) -> tuple[dict[str, Any] | None, list[int]]:
    """A message and its descriptors, which are the caller's to close; None at the end."""
    room = socket.CMSG_SPACE(4 * _MOST_DESCRIPTORS)
    data, ancillary, _, _ = source.recvmsg(_LARGEST_PACKET, room, _CLOSE_ON_EXECUTE)
    found = array.array("i")
    for level, kind, payload in ancillary:
        if (level, kind) == (socket.SOL_SOCKET, socket.SCM_RIGHTS):
            found.frombytes(payload)
    return (json.loads(data) if data else None), list(found)


_CLOSE_ON_EXECUTE: int = getattr(socket, "MSG_CMSG_CLOEXEC", 0)
