"""A root of its own: the zygote's whole world at level `namespaces`, and each program's part of it.

The zygote builds it once, read-only, from parts of the machine's at their usual places. Each
program's supervisor adds one tmpfs, with the program's directory, /tmp and /dev/shm in it.
"""

from __future__ import annotations

import os

from ...isolation.namespaces import (
    NO_DEVICES,
    NO_EXECUTE,
    NO_SETUID,
    READ_ONLY,
    bind,
    make_private,
    mount,
    pivot_root,
    restrict_mount,
    unmount,
)
from ..protocol import Kind, Limits
from . import node as nodes
from .paths import (
    BOX,
    DATA,
    DEVICES,
    LIBRARIES,
    OF_OTHERS,
    OF_THE_MACHINE,
    SCRATCH,
    SHARED_MEMORY,
    STDLIB,
    foreign_pythons,
)

INNER_USER = 1000
_FILES = "/run/files"  # where a program's tmpfs is mounted
_NOTHING_SPECIAL = NO_SETUID | NO_DEVICES
_WORKSPACES = "/run/workspaces"  # all of them; each program's supervisor takes it away
_OLD = "/old"
NODE, BOOTSTRAP = "/usr/bin/node", f"/run/{nodes.NAME}"
_FEW_INODES = 64  # beyond the program's own: the folders made here
_PASSWD = f"guest:x:{INNER_USER}:{INNER_USER}::{BOX}:/bin/false\n"


def build(kind: Kind) -> bool:
    """Makes it the root of this process; whether it has a /proc of its own."""
    hidden = foreign_pythons()
    node = kind.node
    bootstrap = nodes.bootstrap() if node is not None else b""
    make_private()
    mount("tmpfs", "/tmp", "tmpfs", _NOTHING_SPECIAL, "mode=755,size=1m")  # noqa: S108
    os.mkdir("/tmp" + _OLD)  # noqa: S108
    pivot_root("/tmp", "/tmp" + _OLD)  # noqa: S108
    for path in (*LIBRARIES, STDLIB, *DATA, OF_THE_MACHINE[-1]):
        _lend(path)
    for path in DEVICES:
        bind(_OLD + path, path, NO_SETUID | NO_EXECUTE)
    for path in (*(f"{STDLIB}/{name}" for name in OF_OTHERS), *hidden):
        if os.path.isdir(path):
            mount("tmpfs", path, "tmpfs", READ_ONLY)
    for path in ("/proc", BOX, SCRATCH, SHARED_MEMORY, _FILES, "/etc"):
        os.makedirs(path, exist_ok=True)
    with open("/etc/passwd", "w") as file:
        file.write(_PASSWD)
    if node is not None:
        bind(_OLD + node.path, NODE, READ_ONLY | _NOTHING_SPECIAL)
        with open(BOOTSTRAP, "wb") as file:
            file.write(bootstrap)
    if kind.workspaces is not None:
        bind(_OLD + kind.workspaces, _WORKSPACES, _NOTHING_SPECIAL | NO_EXECUTE)
    has_proc = own_proc()
    if not has_proc:
        for path in OF_THE_MACHINE[:-1]:
            bind(_OLD + path, path, READ_ONLY | _NOTHING_SPECIAL | NO_EXECUTE)
    unmount(_OLD)
    os.rmdir(_OLD)
    restrict_mount("/", READ_ONLY | _NOTHING_SPECIAL)
    return has_proc


def _lend(path: str) -> None:
    """Read-only, and as the link that it is (`/lib` is often one to `usr/lib`)."""
    source = _OLD + path
    if os.path.lexists(path):
        return  # beneath one that was lent before
    if os.path.islink(source) and os.readlink(source).lstrip("/") == f"usr{path}":
        os.symlink(os.readlink(source), path)
    elif os.path.exists(source):
        bind(source, path, READ_ONLY | _NOTHING_SPECIAL)


def own_proc() -> bool:
    """Without processes of others, and without what is not of processes, where Linux can do that.

    Containers that mask parts of theirs refuse a new one.
    """
    for options in ("hidepid=invisible,subset=pid", "hidepid=2"):
        try:
            flags = READ_ONLY | _NOTHING_SPECIAL | NO_EXECUTE
            mount("proc", "/proc", "proc", flags, options)
        except PermissionError:
            return False
        except OSError:
            continue  # Linux is too old for it
        return True
    return False


def add_files(limits: Limits, user: int | None, session: str | None = None) -> None:
    """The program's own files, all in one tmpfs, so that one size holds for all of them.

    A workspace lies on the disk, and its size has to be watched.
    """
    size = f"size={limits.directory_bytes},nr_inodes={limits.directory_files + _FEW_INODES}"
    flags = _NOTHING_SPECIAL | NO_EXECUTE
    mount("tmpfs", _FILES, "tmpfs", flags, f"{size},mode=711")
    for index, target in enumerate((BOX, SCRATCH, SHARED_MEMORY)):
        folder = f"{_FILES}/{index}"
        os.mkdir(folder, 0o700)
        if user is not None:
            os.chown(folder, user, user)
        bind(folder, target, flags)
    unmount(_FILES)
    if session is not None:
        bind(f"{_WORKSPACES}/{session}", BOX, flags)
    if os.path.isdir(_WORKSPACES):
        unmount(_WORKSPACES)
