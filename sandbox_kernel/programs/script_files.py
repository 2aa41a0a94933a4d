"""`fs` of JavaScript programs on the engine: the program's directory, and what `allow=` lends beside it."""

from __future__ import annotations

import errno
import os
from collections.abc import Sequence

from ..capabilities.disk import Disk
from ..capabilities.filesystem import loan_of
from ..capabilities.folder import Limits, Parts, Stat, place
from ..capabilities.nodecalls import NodeCalls
from ..isolation.beneath import Directory, Quota
from ..isolation.resolve import failure, parts_of
from ..loans import Loan
from .protocol import Grant

_LARGEST_FILE = 16 * 2**20


class ScriptFolder:
    """Each in its own root. The first of the names on the way to an absolute path is that of a grant."""

    def __init__(self, directory: Directory, grants: Sequence[Grant], quota: Quota) -> None:
        """Owns the directory."""
        limits = Limits(_LARGEST_FILE, quota.bytes, quota.files)
        self._own = Disk(directory, limits, writable=True)
        self._granted = [(grant, _disk_of(grant, limits)) for grant in grants]

    def place(self, path: object) -> Parts:
        """The names on the way, as `folder.place` has them; an absolute path is that of a grant."""
        if not isinstance(path, str) or not path.startswith("/"):
            return place(path)
        found = [grant.name for grant, _ in self._granted if _is_at(path, grant.name)]
        if not found:
            return place(path)
        name = max(found, key=len)
        return os.fsencode(name), *place(path[len(name) :].lstrip("/"))

    def _at(self, parts: Parts) -> tuple[Disk, Parts]:
        """The deepest root counts, and of two the writable one."""
        found = [
            (len(names), grant.writes, disk, grant)
            for grant, disk in self._granted
            if parts[: len(names := _names_of(grant))] == names
        ]
        if not found:
            return self._own, parts
        count, _, disk, grant = max(found, key=lambda each: each[:2])
        above = () if grant.is_folder else (os.fsencode(os.path.basename(grant.source)),)
        return disk, (*above, *parts[count:])

    def stat(self, parts: Parts) -> Stat:
        disk, rest = self._at(parts)
        return disk.stat(rest)

    def read(self, parts: Parts) -> bytes:
        disk, rest = self._at(parts)
        return disk.read(rest)

    def names(self, parts: Parts) -> list[str]:
        disk, rest = self._at(parts)
        return disk.names(rest)

    def write(self, parts: Parts, data: bytes) -> None:
        disk, rest = self._at(parts)
        disk.write(rest, data)

    def mkdir(self, parts: Parts) -> None:
        disk, rest = self._at(parts)
        disk.mkdir(rest)

    def remove(self, parts: Parts) -> None:
        disk, rest = self._at(parts)
        disk.remove(rest)

    def remove_tree(self, parts: Parts) -> None:
        disk, rest = self._at(parts)
        disk.remove_tree(rest)

    def rename(self, old: Parts, new: Parts) -> None:
        before, source = self._at(old)
        after, target = self._at(new)
        if before is not after:
            raise failure(errno.EACCES, b"/".join(old))
        before.rename(source, target)

    def close(self) -> None:
        for disk in (self._own, *(disk for _, disk in self._granted)):
            disk.close()


class ScriptFiles:
    """The capability: lent once, to one program."""

    name = "fs"

    def __init__(self, folder: ScriptFolder) -> None:
        self._folder = folder

    def loan(self, name: str) -> Loan:
        return loan_of(self._folder, NodeCalls(self._folder, self._folder.place), name)

    def describe(self, name: str | None = None) -> str:
        return f"module {name or self.name}"


def _disk_of(grant: Grant, limits: Limits) -> Disk:
    """Of a file, the folder that it lies in, of which no other name is used."""
    folder = grant.source if grant.is_folder else os.path.dirname(grant.source)
    return Disk(Directory.at(folder), limits, writable=grant.writes)


def _names_of(grant: Grant) -> Parts:
    return (os.fsencode(grant.name),) if os.path.isabs(grant.name) else parts_of(grant.name)


def _is_at(path: str, name: str) -> bool:
    return path == name or path.startswith(f"{name}/")
