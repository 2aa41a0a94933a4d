"""Removes whatever a guest left in a folder of ours.

It may have nested thousands of folders, made a million entries, and taken every permission away.
So there is no recursion and no path: a folder's folders are moved up to the top before it goes, and
few descriptors and names are held at any time.
"""

from __future__ import annotations

import itertools
import os
import secrets
import stat
from collections.abc import Iterator

from .resolve import O_PATH

_BATCH = 10_000  # names in memory at a time
_WHOLE_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_JUST_A_LOOK = O_PATH | os.O_NOFOLLOW | os.O_CLOEXEC


def empty(folder: int) -> None:
    """Removes everything in it; raises the first error once nothing more can be removed.

    Nothing may run in it any more: whoever creates files faster could keep this busy.
    """
    permit(folder)
    names = _fresh_names()
    while found := _some_of(folder):
        errors = [error for name in found if (error := _try(folder, name, names))]
        if len(errors) == len(found):
            raise errors[0]


def permit(descriptor: int) -> None:
    """Makes its owner able to use a folder or a file; it may be open as a path only."""
    mode = os.fstat(descriptor).st_mode
    wanted = stat.S_IRWXU if stat.S_ISDIR(mode) else stat.S_IRUSR | stat.S_IWUSR
    if mode & wanted != wanted and not stat.S_ISLNK(mode):
        os.chmod(f"/proc/self/fd/{descriptor}", stat.S_IMODE(mode) | wanted)


def permit_named(folder: int, name: str | bytes) -> None:
    """The same for what has this name, never for what a link points to."""
    descriptor = os.open(name, _JUST_A_LOOK, dir_fd=folder)
    try:
        permit(descriptor)
    finally:
        os.close(descriptor)


def _try(top: int, name: str, names: Iterator[str]) -> OSError | None:
    try:
        _remove(top, name, names)
    except FileNotFoundError:
        return None  # somebody else removes the same
    except OSError as error:
        return error
    return None


def _remove(top: int, name: str, names: Iterator[str]) -> None:
    try:
        os.unlink(name, dir_fd=top)
    except IsADirectoryError:
        _flatten(top, name, names)
        os.rmdir(name, dir_fd=top)


def _flatten(top: int, name: str, names: Iterator[str]) -> None:
    """Removes the folder's files, and moves its folders up."""
    permit_named(top, name)
    folder = os.open(name, _WHOLE_FOLDER, dir_fd=top)
    try:
        while found := _some_of(folder):
            for inner in found:
                _remove_or_move_up(folder, inner, top, names)
    finally:
        os.close(folder)


def _remove_or_move_up(folder: int, name: str, top: int, names: Iterator[str]) -> None:
    try:
        os.unlink(name, dir_fd=folder)
    except IsADirectoryError:
        permit_named(folder, name)  # a folder that moves is written to
        os.rename(name, next(names), src_dir_fd=folder, dst_dir_fd=top)
    except FileNotFoundError:
        pass


def _some_of(folder: int) -> list[str]:
    with os.scandir(folder) as entries:
        return [entry.name for entry in itertools.islice(entries, _BATCH)]


def _fresh_names() -> Iterator[str]:
    prefix = secrets.token_hex(8)
    return (f"{prefix}-{number}" for number in itertools.count())
