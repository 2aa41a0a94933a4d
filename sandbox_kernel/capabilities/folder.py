"""What `files()` needs of a folder, and how much a run may put there. Errors are OSErrors, with Linux' numbers."""

from __future__ import annotations

import errno
import os
from collections.abc import Sequence
from typing import Literal, NamedTuple, Protocol

from ..isolation.resolve import failure, parts_of

_LONGEST_PATH = 4_096  # characters

Parts = tuple[bytes, ...]  # the names on the way; none for the root
Kind = Literal["file", "folder", "link", "other"]


class Limits(NamedTuple):
    """Of one run."""

    file_bytes: int
    total_bytes: int
    files: int


class Stat(NamedTuple):
    """What is known of a file or folder."""

    kind: Kind
    size: int
    modified_ms: float


class Folder(Protocol):
    """A root and what lies beneath it."""

    def stat(self, parts: Parts) -> Stat: ...
    def read(self, parts: Parts) -> bytes: ...
    def names(self, parts: Parts) -> list[str]: ...
    def write(self, parts: Parts, data: bytes) -> None: ...
    def mkdir(self, parts: Parts) -> None: ...
    def remove(self, parts: Parts) -> None:
        """A file, a link or an empty folder."""

    def remove_tree(self, parts: Parts) -> None: ...
    def rename(self, old: Parts, new: Parts) -> None: ...
    def close(self) -> None: ...


def place(path: object) -> Parts:
    """The names on the way that a guest's path describes. Raises for one that leads out."""
    if not isinstance(path, str):
        raise TypeError(f"the path must be a string, not {type(path).__name__}")
    if len(path) > _LONGEST_PATH:
        raise failure(errno.ENAMETOOLONG, b"")
    if any("\ud800" <= character <= "\udfff" for character in path):
        raise failure(errno.EINVAL, b"")
    return parts_of(path)


def spelled(parts: Sequence[bytes]) -> str:
    return os.fsdecode(b"/".join(parts)) or "."


class Ledger:
    """What a run has put into a folder: files with their sizes, and folders."""

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._sizes: dict[Parts, int] = {}
        self._total = 0

    def check_size(self, size: int, parts: Parts) -> None:
        if size > self._limits.file_bytes:
            raise failure(errno.EFBIG, b"/".join(parts))

    def check_room(self, parts: Parts, size: int) -> None:
        """Raises unless something of that size may be put there."""
        self.check_size(size, parts)
        before = self._sizes.get(parts)
        is_more = len(self._sizes) + (before is None) > self._limits.files
        if is_more or self._total - (before or 0) + size > self._limits.total_bytes:
            raise failure(errno.EDQUOT, b"/".join(parts))

    def note(self, parts: Parts, size: int) -> None:
        self._total += size - self._sizes.get(parts, 0)
        self._sizes[parts] = size

    def forget(self, parts: Parts) -> None:
        """It is gone, with everything in it."""
        for each in self._beneath(parts):
            self._total -= self._sizes.pop(each)

    def move(self, old: Parts, new: Parts) -> None:
        moved = {new + each[len(old) :]: self._sizes[each] for each in self._beneath(old)}
        self.forget(old)
        self.forget(new)
        for parts, size in moved.items():
            self.note(parts, size)

    def _beneath(self, parts: Parts) -> list[Parts]:
        return [each for each in self._sizes if each[: len(parts)] == parts]
