"""Opens what lies beneath a folder, without following links.

Whoever can write into the folder may swap a part of a path for a link between two looks at it. So
nothing is looked at first: Linux resolves the whole path under these rules (`openat2`), or, where
it cannot, each part is opened from the descriptor of the part before it.
"""

from __future__ import annotations

import errno
import functools
import os
import stat
import struct
import sys
from collections.abc import Sequence

from .libc import ffi, libc

_OPENAT2 = 437  # on every processor
_NO_XDEV, _NO_MAGICLINKS, _NO_SYMLINKS, _BENEATH = 1, 2, 4, 8
_RULES = _NO_XDEV | _NO_MAGICLINKS | _NO_SYMLINKS | _BENEATH
O_PATH = getattr(os, "O_PATH", os.O_RDONLY)  # macOS has none
_NO_LINK = os.O_CLOEXEC | os.O_NOFOLLOW  # openat2 has a rule for links, with a clearer error
_THROUGH = O_PATH | os.O_DIRECTORY | _NO_LINK
_ATTEMPTS = 100  # while others move folders about, Linux may ask to try again
MOST_BYTES = 4096  # of a path, with the byte that ends it: what Linux takes in one call


def parts_of(path: str | bytes) -> tuple[bytes, ...]:
    """The names on the way, `.` and `..` worked out: without links, they mean what they say.

    Raises what Linux would: EXDEV for a path that leads out, EINVAL for a NUL.
    """
    spelled = os.fsencode(path)
    if b"\0" in spelled:
        raise failure(errno.EINVAL, path)
    if spelled.startswith(b"/"):
        raise failure(errno.EXDEV, path)
    found: list[bytes] = []
    for part in spelled.split(b"/"):
        if part == b"..":
            if not found:
                raise failure(errno.EXDEV, path)
            found.pop()
        elif part not in (b"", b"."):
            found.append(part)
    return tuple(found)


def failure(code: int, path: str | bytes) -> OSError:
    """An OSError of the right subclass, such as FileNotFoundError."""
    return OSError(code, os.strerror(code), os.fsdecode(path))


def open_beneath(folder: int, parts: Sequence[bytes], flags: int, mode: int = 0) -> int:
    """A descriptor of what the parts lead to; the folder itself if there are none."""
    if any(part in (b"", b".", b"..") or b"/" in part for part in parts):
        raise failure(errno.EXDEV, b"/".join(parts))  # `parts_of` leaves none of these
    if sum(map(len, parts)) + len(parts) > MOST_BYTES:
        raise failure(errno.ENAMETOOLONG, b"/".join(parts))
    if has_openat2():
        return _whole(folder, b"/".join(parts) or b".", flags, mode)
    return _part_by_part(folder, parts, flags, mode)


@functools.cache
def has_openat2() -> bool:
    """Linux before 5.6 has none, and the filter of an old container runtime may forbid it."""
    if sys.platform != "linux":
        return False
    descriptor, code = _openat2(
        -100, b"/", struct.pack("=QQQ", O_PATH | os.O_CLOEXEC, 0, _NO_SYMLINKS)
    )
    if descriptor < 0:
        return code not in (errno.ENOSYS, errno.EPERM)
    os.close(descriptor)
    return True


def _whole(folder: int, path: bytes, flags: int, mode: int) -> int:
    how = struct.pack("=QQQ", flags | os.O_CLOEXEC, mode if flags & os.O_CREAT else 0, _RULES)
    for _ in range(_ATTEMPTS):
        descriptor, code = _openat2(folder, path, how)
        if descriptor >= 0:
            return descriptor
        if code not in (errno.EAGAIN, errno.EINTR):
            break
    raise failure(code, path)


def _openat2(folder: int, path: bytes, how: bytes) -> tuple[int, int]:
    size = ffi.cast("size_t", len(how))
    spelled, rules = ffi.new("char[]", path), ffi.new("char[]", how)
    result = libc.syscall(_OPENAT2, ffi.cast("long", folder), spelled, rules, size)
    return int(result), int(ffi.errno)


def _part_by_part(folder: int, parts: Sequence[bytes], flags: int, mode: int) -> int:
    """No part is a link, and each is opened where the one before it was found."""
    device = os.fstat(folder).st_dev
    at = os.dup(folder)
    try:
        for part in parts[:-1]:
            below = _open(at, part, _THROUGH)
            os.close(at)
            at = below
        opened = _open(at, parts[-1] if parts else b".", flags | _NO_LINK, mode)
    finally:
        os.close(at)
    if os.fstat(opened).st_dev != device:  # something is mounted there
        os.close(opened)
        raise failure(errno.EXDEV, b"/".join(parts))
    return opened


def _open(at: int, name: bytes, flags: int, mode: int = 0) -> int:
    try:
        return os.open(name, flags, mode, dir_fd=at)
    except NotADirectoryError:  # openat2 tells a link from a file that is in the way
        kind = os.stat(name, dir_fd=at, follow_symlinks=False).st_mode
        if stat.S_ISLNK(kind) or stat.S_ISDIR(kind):  # a folder by now: they are being swapped
            raise failure(errno.ELOOP, name) from None
        raise
