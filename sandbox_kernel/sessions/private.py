"""A private directory that goes with the process, also if the process is killed.

Nothing of a process that was killed runs any more to clean up. So each of these directories holds a
file that its process keeps locked, and whoever makes the next one removes those that nobody holds.
"""

from __future__ import annotations

import fcntl
import os
import tempfile
import time
from contextlib import suppress
from pathlib import Path

from ..isolation.beneath import Directory

_PREFIX = "sandbox-kernel-workspaces-"
_ALIVE = ".alive"
_YOUNG = 60  # seconds in which a directory without that file may be one that is being made


class PrivateFolder:
    """Made at once; `remove` is for the process that made it, and does nothing in its forks."""

    def __init__(self) -> None:
        _remove_abandoned(tempfile.gettempdir())
        self.path = Path(tempfile.mkdtemp(prefix=_PREFIX))
        self._process = os.getpid()
        with Directory.at(self.path) as folder:
            self._alive = folder.open("new", os.O_RDWR | os.O_CREAT)
            fcntl.flock(self._alive, fcntl.LOCK_EX)
            folder.rename("new", _ALIVE)  # locked from the first moment that it has this name

    def remove(self) -> None:
        if os.getpid() != self._process or self._alive < 0:
            return
        with suppress(OSError), Directory.at(self.path.parent) as shared:
            shared.remove_tree(self.path.name)
        os.close(self._alive)
        self._alive = -1


def _remove_abandoned(temporary: str) -> None:
    with suppress(OSError), Directory.at(temporary) as shared:
        for name in os.listdir(shared.fileno()):
            if name.startswith(_PREFIX):
                with suppress(OSError):  # somebody else removes it, or it is not what it seems
                    _remove_if_abandoned(shared, name)


def _remove_if_abandoned(shared: Directory, name: str) -> None:
    """Others can put anything into a shared directory, but they cannot own it in our name."""
    with shared.sub(name) as folder:
        seen = folder.stat()
        if seen.st_uid != os.geteuid() or not _is_abandoned(folder, time.time() - seen.st_mtime):
            return
    shared.remove_tree(name)


def _is_abandoned(folder: Directory, age: float) -> bool:
    try:
        alive = folder.open(_ALIVE, os.O_RDWR)
    except FileNotFoundError:
        return age > _YOUNG
    try:
        fcntl.flock(alive, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    finally:
        os.close(alive)
    return True
