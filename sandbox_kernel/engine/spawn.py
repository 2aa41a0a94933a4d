"""Starting a zygote: a fresh interpreter with an empty environment and nothing of the host in it.

Apart from the rest of the engine and quick to import, because the first run starts its zygote
before it loads anything else: both take a while, and on two processors they overlap.
"""

from __future__ import annotations

import os
import socket
import sys
from typing import Any, NamedTuple

from ..errors import EngineError
from ..isolation.imports import folders_of

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


class Spawned(NamedTuple):
    """A zygote that has just been started, and our end of its control socket.

    `pidfd` stays its own, also if the host itself reaps all children and its number is given away.
    """

    pid: int
    control: socket.socket
    cpu_seconds: int
    pidfd: int | None = None


def spawn_zygote(cpu_seconds: int) -> Spawned:
    """In a process session of its own, which no signals of a terminal reach."""
    if not sys.executable:
        raise EngineError("there is no Python interpreter to start the zygote with")
    ours, theirs = socket.socketpair()
    code = _BOOT.format(paths=worker_paths(), fd=_CONTROL_DESCRIPTOR, cpu=cpu_seconds)
    argv = [sys.executable, "-I", "-S", "-c", code]
    actions: list[tuple[Any, ...]] = [
        (os.POSIX_SPAWN_OPEN, 0, os.devnull, os.O_RDWR, 0),
        (os.POSIX_SPAWN_OPEN, 1, os.devnull, os.O_RDWR, 0),
        (os.POSIX_SPAWN_DUP2, theirs.fileno(), _CONTROL_DESCRIPTOR),
    ]
    try:
        pid = os.posix_spawn(sys.executable, argv, _ENVIRONMENT, file_actions=actions, setsid=True)
    except OSError:
        ours.close()
        raise
    finally:
        theirs.close()
    return Spawned(pid, ours, cpu_seconds, _open_pidfd(pid))


def _open_pidfd(pid: int) -> int | None:
    try:
        return os.pidfd_open(pid)
    except (AttributeError, OSError):  # not Linux, an old one, or no descriptor left
        return None


def worker_paths() -> list[str]:
    """The folders of what a worker imports."""
    return folders_of(_NEEDED)
