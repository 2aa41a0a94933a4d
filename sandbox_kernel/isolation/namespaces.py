"""Namespaces: a process gets its own users, mounts, processes, network.

Takes root with CAP_SYS_ADMIN, or a system that lets everybody have a user namespace.
"""

from __future__ import annotations

import os

from .libc import ffi, libc
from .system import call, checked

USERS, PROCESSES, NETWORK = 0x10000000, 0x20000000, 0x40000000
MOUNTS, GROUPS_OF_PROCESSES, HOST_NAME, MESSAGES = 0x20000, 0x2000000, 0x4000000, 0x8000000
ANY = 0x7E020080  # every CLONE_NEW* flag

READ_ONLY, NO_SETUID, NO_DEVICES, NO_EXECUTE = 1, 2, 4, 8
_REMOUNT, _BIND, _RECURSIVE, _PRIVATE = 1 << 5, 1 << 12, 1 << 14, 1 << 18
_DETACH = 2
_NO_ACCESS_TIMES, _NO_FOLDER_TIMES = 1 << 10, 1 << 11  # the same for statvfs and mount
_LOCKED = READ_ONLY | NO_SETUID | NO_DEVICES | NO_EXECUTE | _NO_ACCESS_TIMES | _NO_FOLDER_TIMES


def unshare(kinds: int) -> None:
    """Of process namespaces, the next child is the first in the new one."""
    checked(libc.unshare(kinds), "unshare")


def enter(descriptor: int, kind: int) -> None:
    """Goes (back) to a namespace; for one of processes, the next children do."""
    checked(libc.setns(descriptor, kind), "setns")


def own_users(inner: int, proc: int) -> None:
    """A user namespace in which this user has the number `inner`, and no other user exists."""
    user, group = os.getuid(), os.getgid()
    unshare(USERS)
    for name, text in (
        ("setgroups", "deny"),  # before gid_map, which is refused otherwise
        ("uid_map", f"{inner} {user} 1"),
        ("gid_map", f"{inner} {group} 1"),
    ):
        file = os.open(f"self/{name}", os.O_WRONLY | os.O_CLOEXEC, dir_fd=proc)
        try:
            os.write(file, text.encode())
        finally:
            os.close(file)


def name_host(name: str) -> None:
    spelled = name.encode()
    checked(libc.sethostname(spelled, len(spelled)), "sethostname")


# ---------------------------------------------------------------------------- mounts


def mount(source: str, target: str, kind: str, flags: int, data: str = "") -> None:
    _mount(source, target, kind, flags, data)


def make_private() -> None:
    """Mounts of this namespace do not appear in others."""
    _mount(None, "/", None, _RECURSIVE | _PRIVATE)


def bind(source: str, target: str, flags: int) -> None:
    """Makes the target, a folder or a file as the source is, and mounts the source on it."""
    if os.path.isdir(source):
        os.makedirs(target, exist_ok=True)
    else:
        os.makedirs(os.path.dirname(target), exist_ok=True)
        if not os.path.exists(target):
            os.close(os.open(target, os.O_CREAT | os.O_WRONLY, 0o644))
    _mount(source, target, None, _BIND | _RECURSIVE)
    restrict_mount(target, flags)


def bind_as_it_is(source: str, target: str) -> None:
    """A folder on one that is there, with the flags of the mount that it is in."""
    _mount(source, target, None, _BIND)


def restrict_mount(target: str, flags: int) -> None:
    """A bind takes its flags in a second step; those that an outer namespace locked are kept."""
    kept = os.statvfs(target).f_flag & _LOCKED
    _mount(None, target, None, _BIND | _REMOUNT | flags | kept)


def unmount(target: str) -> None:
    checked(libc.umount2(target.encode(), _DETACH), f"umount {target}")


def pivot_root(new: str, old: str) -> None:
    """`new` becomes the root; the former one is beneath it at `old`."""
    folders = [ffi.new("char[]", os.fsencode(path)) for path in (new, old)]
    call("pivot_root", *folders)
    os.chdir("/")


def _mount(source: str | None, target: str, kind: str | None, flags: int, data: str = "") -> None:
    texts = [ffi.NULL if text is None else os.fsencode(text) for text in (source, target, kind)]
    options = ffi.new("char[]", data.encode()) if data else ffi.NULL
    checked(libc.mount(*texts, flags, options), f"mount {target}")
