"""A root of its own: the zygote's whole world at level `namespaces`, and each program's part of it.

The zygote builds it once, read-only, from parts of the machine's at their usual places. Each
program's supervisor adds one tmpfs, with the program's directory, /tmp and /dev/shm in it.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager

from ...isolation.namespaces import (
    NO_DEVICES,
    NO_EXECUTE,
    NO_SETUID,
    READ_ONLY,
    bind,
    bind_as_it_is,
    make_private,
    mount,
    pivot_root,
    restrict_mount,
    unmount,
)
from ..protocol import Binary, Grant, Grants, Kind, Launch
from . import binary as binaries
from .paths import (
    BOX,
    DATA,
    DEVICES,
    INSTALLED,
    LIBRARIES,
    OF_OTHERS,
    OF_THE_MACHINE,
    PACKAGES,
    SCRATCH,
    SHARED_MEMORY,
    STDLIB,
    foreign_pythons,
)

INNER_USER = 1000
_FILES = "/run/files"  # where a program's tmpfs is mounted
_NOTHING_SPECIAL = NO_SETUID | NO_DEVICES
_WORKSPACES = "/run/workspaces"  # all of them; each program's supervisor takes it away
_GRANTED = "/run/granted"  # what one program is lent; its supervisor puts it where it belongs
FOR_NAMES = (
    "/etc/resolv.conf /etc/hosts /etc/nsswitch.conf /etc/host.conf /etc/gai.conf /etc/services"
).split()
_INSTALLS = "/run/installs"  # likewise
_OLD = "/old"
_PROGRAMS = "/usr/bin"
_FEW_INODES = 64  # beyond the program's own: the folders made here
_PASSWD = f"guest:x:{INNER_USER}:{INNER_USER}::{BOX}:/bin/false\n"


def build(kind: Kind) -> bool:
    """Makes it the root of this process; whether it has a /proc of its own."""
    hidden = foreign_pythons()
    binary = kind.binary
    bootstrap = binaries.bootstrap(binary) if binary is not None else b""
    for_names = [(path, os.path.realpath(path)) for path in FOR_NAMES if os.path.exists(path)]
    make_private()
    mount("tmpfs", "/tmp", "tmpfs", _NOTHING_SPECIAL, "mode=755,size=1m")  # noqa: S108  # of a mount namespace of its own
    os.mkdir("/tmp" + _OLD)  # noqa: S108  # of a mount namespace of its own
    pivot_root("/tmp", "/tmp" + _OLD)  # noqa: S108  # of a mount namespace of its own
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
    if binary is not None:
        bind(_OLD + binary.path, within(binary).path, READ_ONLY | _NOTHING_SPECIAL)
        with open(bootstrap_of(binary), "wb") as file:
            file.write(bootstrap)
    for entry, source in kind.packages.entries if kind.packages is not None else ():
        bind(_OLD + source, f"{PACKAGES}/{entry}", READ_ONLY | _NOTHING_SPECIAL)
    if kind.installs is not None:
        os.makedirs(INSTALLED)
        bind(_OLD + kind.installs, _INSTALLS, READ_ONLY | _NOTHING_SPECIAL)
    if kind.workspaces is not None:
        bind(_OLD + kind.workspaces, _WORKSPACES, _NOTHING_SPECIAL | NO_EXECUTE)
    for path, source in for_names if kind.grants.net else ():
        bind(_OLD + source, path, READ_ONLY | _NOTHING_SPECIAL | NO_EXECUTE)
    _lend_grants(kind.grants)
    has_proc = own_proc()
    if not has_proc:
        for path in OF_THE_MACHINE[:-1]:
            bind(_OLD + path, path, READ_ONLY | _NOTHING_SPECIAL | NO_EXECUTE)
    unmount(_OLD)
    os.rmdir(_OLD)
    restrict_mount("/", READ_ONLY | _NOTHING_SPECIAL)
    return has_proc


def _lend_grants(grants: Grants) -> None:
    """Set aside, since a program's own folders are still to be mounted; with places for the rest."""
    for index, grant in enumerate(grants.paths):
        aside = f"{_GRANTED}/{index}"
        bind(_OLD + grant.source, aside, _flags(grant))
        for mounted in _mounts_beneath(aside):
            restrict_mount(mounted, _flags(grant))
        if not _is_in(grant.name, (BOX, SCRATCH)) and os.path.isabs(grant.name):
            _make_place(grant.name, grant.is_folder)


def _flags(grant: Grant) -> int:
    return _NOTHING_SPECIAL | NO_EXECUTE | (0 if grant.writes else READ_ONLY)


def _mounts_beneath(folder: str) -> list[str]:
    """A bind brings those of its source with it, whose flags are their own."""
    with open(f"{_OLD}/proc/self/mountinfo", "rb") as file:
        places = [line.split()[4].decode("unicode_escape") for line in file]
    return [os.fsdecode(path.encode("latin-1")) for path in places if path.startswith(folder + "/")]


def _make_place(path: str, is_folder: bool) -> None:
    if os.path.lexists(path):
        return
    os.makedirs(path if is_folder else os.path.dirname(path), exist_ok=True)
    if not is_folder:
        os.close(os.open(path, os.O_CREAT | os.O_WRONLY | os.O_CLOEXEC, 0o644))


def _is_in(path: str, folders: tuple[str, ...]) -> bool:
    return any(path.startswith(f"{folder}/") for folder in folders)


def put_grants(grants: Grants) -> None:
    """In a supervisor, when the program's own folders are there."""
    for index, grant in enumerate(grants.paths):
        aside, target = f"{_GRANTED}/{index}", os.path.join(BOX, grant.name)
        if not os.path.lexists(target):
            _make_place(target, grant.is_folder)  # in /tmp, which is new and empty
        bind(aside, target, _flags(grant))
        unmount(aside)


def within(binary: Binary) -> Binary:
    """As it is found there."""
    return binary._replace(path=f"{_PROGRAMS}/{binary.runtime}")


def bootstrap_of(binary: Binary) -> str:
    return f"/run/{binaries.first_name(binary)}"


def _lend(path: str) -> None:
    """Read-only, and as the link that it is (`/lib` is often one to `usr/lib`)."""
    source = _OLD + path
    if os.path.lexists(path):
        return  # beneath one that was lent before
    if os.path.islink(source) and os.readlink(source).lstrip("/") == f"usr{path}":
        os.symlink(os.readlink(source), path)
    elif os.path.exists(source):
        bind(source, path, READ_ONLY | _NOTHING_SPECIAL)


@contextmanager
def scratch() -> Iterator[str]:
    """A folder that the zygote may write to, and that no program sees."""
    mount("tmpfs", SCRATCH, "tmpfs", _NOTHING_SPECIAL | NO_EXECUTE, "size=64m,mode=700")
    folder = f"{SCRATCH}/preload"
    os.mkdir(folder)
    yield folder
    unmount(SCRATCH)


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


def add_files(launch: Launch, user: int | None) -> None:
    """The program's own files, all in one tmpfs, so that one size holds for all of them.

    A workspace lies on the disk, and its size has to be watched.
    """
    limits = launch.limits
    size = f"size={limits.directory_bytes},nr_inodes={limits.directory_files + _FEW_INODES}"
    flags = _NOTHING_SPECIAL | NO_EXECUTE
    mount("tmpfs", _FILES, "tmpfs", flags, f"{size},mode=711")
    for index, target in enumerate((BOX, SCRATCH, SHARED_MEMORY)):
        folder = f"{_FILES}/{index}"
        os.mkdir(folder, 0o700)
        if user is not None:
            os.chown(folder, user, user)
        bind_as_it_is(folder, target)
    unmount(_FILES)
    if launch.session is not None:
        bind(f"{_WORKSPACES}/{launch.session}", BOX, flags)
    if launch.installed is not None:
        bind(f"{_INSTALLS}/{launch.installed}", INSTALLED, READ_ONLY | _NOTHING_SPECIAL)
    for path in filter(os.path.isdir, (_WORKSPACES, _INSTALLS)):
        unmount(path)
