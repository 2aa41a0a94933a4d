"""A folder with a run's changes in memory on top of it, which end with the run."""

from __future__ import annotations

import errno
import os
import time
from dataclasses import dataclass, field

from ..isolation.beneath import Directory
from ..isolation.resolve import failure
from .disk import Disk
from .folder import Ledger, Limits, Parts, Stat


@dataclass(slots=True)
class _File:
    data: bytes
    modified_ms: float = field(default_factory=lambda: time.time() * 1000)


class _Made:
    """A folder of the run's own: nothing of the disk shines through."""


class _Gone:
    """Something on the disk that the run has removed."""


_Layer = _File | _Made | _Gone


class Overlay:
    """Reads fall through to the disk unless the run has changed something there."""

    def __init__(self, directory: Directory, limits: Limits) -> None:
        self._disk = Disk(directory, limits, writable=False)
        self._limits = limits
        self._ledger = Ledger(limits)
        self._layer: dict[Parts, _Layer] = {}

    def stat(self, parts: Parts) -> Stat:
        found = self._found(parts)
        if isinstance(found, _File):
            return Stat("file", len(found.data), found.modified_ms)
        if isinstance(found, _Made):
            return Stat("folder", 0, 0.0)
        return self._disk.stat(parts)

    def read(self, parts: Parts) -> bytes:
        found = self._found(parts)
        if isinstance(found, _File):
            return found.data
        if isinstance(found, _Made):
            raise failure(errno.EISDIR, b"/".join(parts))
        return self._disk.read(parts)

    def names(self, parts: Parts) -> list[str]:
        found = self._found(parts)
        if isinstance(found, _File):
            raise failure(errno.ENOTDIR, b"/".join(parts))
        names = set() if isinstance(found, _Made) else set(self._disk.names(parts))
        for each, entry in self._layer.items():
            if len(each) == len(parts) + 1 and each[:-1] == parts:
                name = os.fsdecode(each[-1])
                if isinstance(entry, _Gone):
                    names.discard(name)
                else:
                    names.add(name)
        return sorted(names)

    def write(self, parts: Parts, data: bytes) -> None:
        self._check_parent(parts)
        if self._kind(parts) == "folder":
            raise failure(errno.EISDIR, b"/".join(parts))
        self._ledger.check_room(parts, len(data))
        self._layer[parts] = _File(data)
        self._ledger.note(parts, len(data))

    def mkdir(self, parts: Parts) -> None:
        self._check_parent(parts)
        if self._kind(parts) is not None:
            raise failure(errno.EEXIST, b"/".join(parts))
        self._ledger.check_room(parts, 0)
        self._layer[parts] = _Made()
        self._ledger.note(parts, 0)

    def remove(self, parts: Parts) -> None:
        self._check_parent(parts)
        kind = self.stat(parts).kind
        if kind == "folder" and self.names(parts):
            raise failure(errno.ENOTEMPTY, b"/".join(parts))
        self._drop(parts)

    def remove_tree(self, parts: Parts) -> None:
        self._check_parent(parts)
        self.stat(parts)
        self._drop(parts)

    def rename(self, old: Parts, new: Parts) -> None:
        if old == new:
            return
        if new[: len(old)] == old:
            raise failure(errno.EINVAL, b"/".join(new))
        self._check_parent(new)
        source, target = self.stat(old).kind, self._kind(new)
        if source == "folder" and target is not None:
            if target != "folder":
                raise failure(errno.ENOTDIR, b"/".join(new))
            self.remove(new)
        elif source != "folder" and target == "folder":
            raise failure(errno.EISDIR, b"/".join(new))
        own = self._layer.get(old)
        if isinstance(own, _File):
            self._drop(old)  # which makes room
            self.write(new, own.data)
        else:
            try:
                self._copy(old, new)
            except OSError:
                self._drop(new)  # all of it is moved, or nothing
                raise
            self._drop(old)

    def close(self) -> None:
        self._layer.clear()
        self._disk.close()

    def _copy(self, old: Parts, new: Parts) -> None:
        """Of a folder with what is in it, as far as there is room."""
        waiting = [(old, new)]
        while waiting:
            source, target = waiting.pop()
            kind = self.stat(source).kind
            if kind == "folder":
                self.mkdir(target)
                names = [os.fsencode(name) for name in self.names(source)]
                waiting += [((*source, name), (*target, name)) for name in names]
            else:
                self.write(target, self.read(source))

    def _drop(self, parts: Parts) -> None:
        if not parts:
            raise failure(errno.EBUSY, b".")
        for each in [each for each in self._layer if each[: len(parts)] == parts]:
            del self._layer[each]
        self._ledger.forget(parts)
        if self._is_on_disk(parts):
            self._layer[parts] = _Gone()

    def _is_on_disk(self, parts: Parts) -> bool:
        try:
            self._found(parts)
            self._disk.stat(parts)
        except OSError:
            return False
        return True

    def _kind(self, parts: Parts) -> str | None:
        try:
            return self.stat(parts).kind
        except FileNotFoundError:
            return None

    def _check_parent(self, parts: Parts) -> None:
        if not parts:
            raise failure(errno.EBUSY, b".")
        if self.stat(parts[:-1]).kind != "folder":
            raise failure(errno.ENOTDIR, b"/".join(parts))

    def _found(self, parts: Parts) -> _Layer | None:
        """What the run has put there; None if the disk has the word. Raises if it is gone."""
        through = True  # whether the disk is seen here
        for length in range(1, len(parts) + 1):
            entry = self._layer.get(parts[:length])
            if isinstance(entry, _Gone) or (entry is None and not through):
                raise failure(errno.ENOENT, b"/".join(parts))
            if length == len(parts):
                return entry
            if isinstance(entry, _File):
                raise failure(errno.ENOTDIR, b"/".join(parts))
            through = through and entry is None
        return None
