"""The folder itself, to read, or to write as well. Links are never followed, and never written through."""

from __future__ import annotations

import errno
import stat

from ..isolation.beneath import Directory
from ..isolation.resolve import failure
from .folder import Kind, Ledger, Limits, Parts, Stat

_MOST_NAMES = 10_000


class Disk:
    """Writing replaces a file, so that one with other names elsewhere stays as it is there."""

    def __init__(self, directory: Directory, limits: Limits, *, writable: bool) -> None:
        self._directory = directory
        self._limits = limits
        self._writable = writable
        self._ledger = Ledger(limits)

    def stat(self, parts: Parts) -> Stat:
        found = self._directory.stat(b"/".join(parts))
        return Stat(kind_of(found.st_mode), found.st_size, found.st_mtime_ns / 1e6)

    def read(self, parts: Parts) -> bytes:
        return self._directory.read(b"/".join(parts), self._limits.file_bytes)

    def names(self, parts: Parts) -> list[str]:
        return self._directory.names(b"/".join(parts), _MOST_NAMES)

    def write(self, parts: Parts, data: bytes) -> None:
        self._check_writable(parts)
        self._ledger.check_room(parts, len(data))
        self._directory.write(b"/".join(parts), data, mode=self._mode_of(parts))
        self._ledger.note(parts, len(data))

    def _mode_of(self, parts: Parts) -> int:
        try:
            found = self._directory.stat(b"/".join(parts)).st_mode
        except OSError:
            return 0o666
        if stat.S_ISDIR(found):
            raise failure(errno.EISDIR, b"/".join(parts))
        return found & 0o777 if stat.S_ISREG(found) else 0o666

    def mkdir(self, parts: Parts) -> None:
        self._check_writable(parts)
        self._ledger.check_room(parts, 0)
        self._directory.mkdir(b"/".join(parts), mode=0o777)
        self._ledger.note(parts, 0)

    def remove(self, parts: Parts) -> None:
        self._check_writable(parts)
        self._directory.remove(b"/".join(parts))
        self._ledger.forget(parts)

    def remove_tree(self, parts: Parts) -> None:
        self._check_writable(parts)
        if not parts:
            raise failure(errno.EBUSY, b".")  # before anything is removed
        self._directory.remove_tree(b"/".join(parts))
        self._ledger.forget(parts)

    def rename(self, old: Parts, new: Parts) -> None:
        self._check_writable(old)
        self._directory.rename(b"/".join(old), b"/".join(new))
        self._ledger.move(old, new)

    def close(self) -> None:
        self._directory.close()

    def _check_writable(self, parts: Parts) -> None:
        if not self._writable:
            raise failure(errno.EROFS, b"/".join(parts))


def kind_of(mode: int) -> Kind:
    if stat.S_ISREG(mode):
        return "file"
    if stat.S_ISDIR(mode):
        return "folder"
    return "link" if stat.S_ISLNK(mode) else "other"
