"""Starting a zygote of programs: a fresh interpreter with nothing of the host in it.

Where it imports from is sent to it rather than written on its command line, which programs can read.
"""

from __future__ import annotations

import os
import socket
import sys
from typing import Any, NamedTuple

from ..errors import EngineError
from ..isolation.imports import folders_of
from . import protocol
from .protocol import Kind

_PLAIN = Kind()
_CONTROL = 3
_BOOT = (
    "import gc, json, socket, sys; gc.disable(); host = socket.socket(fileno=3);"
    " boot = json.loads(host.recv(1 << 18)); sys.path[:0] = boot['paths'];"
    " from importlib import import_module; import_module(boot['module']).main(host, boot)"
)
_FLAGS = ("-I", "-S", "-X", "utf8", "-c", _BOOT)
_MODULE = "sandbox_kernel.programs.inside.zygote"
_NEEDED = ("sandbox_kernel", "_cffi_backend")
_ENVIRONMENT = {"MALLOC_ARENA_MAX": "2"}  # an arena for each thread would count as memory


class Spawned(NamedTuple):
    """A process that was just started, the guardian of a zygote, and our end of its socket."""

    pid: int
    control: socket.socket


def spawn(
    executable: str,
    level: str,
    folder: str | None,
    module: str | None = None,
    kind: Kind = _PLAIN,
) -> Spawned:
    """In a process session of its own, which no signals of a terminal reach."""
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    actions: list[tuple[Any, ...]] = [
        (os.POSIX_SPAWN_OPEN, number, os.devnull, os.O_RDWR, 0) for number in range(3)
    ]
    actions.append((os.POSIX_SPAWN_DUP2, theirs.fileno(), _CONTROL))
    argv = [executable, *_FLAGS]
    try:
        pid = os.posix_spawn(executable, argv, _ENVIRONMENT, file_actions=actions, setsid=True)
        boot = {"paths": zygote_paths(), "module": module or _MODULE}
        protocol.send(ours, {**boot, "level": level, "folder": folder, "kind": kind})
    except OSError:
        ours.close()
        raise
    finally:
        theirs.close()
    return Spawned(pid, ours)


def own_interpreter() -> str:
    """The interpreter itself, not the link of a virtual environment."""
    found = getattr(sys, "_base_executable", None) or sys.executable
    if not found:
        raise EngineError("there is no Python interpreter to run programs with")
    return str(found)


def zygote_paths() -> list[str]:
    """The folders of what the zygote imports beside the standard library."""
    return folders_of(_NEEDED)
