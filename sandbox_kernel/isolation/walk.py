"""Everything beneath a folder, within bounds, and how much it takes."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing
from typing import NamedTuple

_BLOCK = 512  # what `st_blocks` counts, on every file system

_MOST_HELD = 24  # descriptors of one walk
_MOST_NAMES = 16  # that fit into one path, however long each is

# From the descriptor of a folder and the names that lead on from there, that of another.
Open = Callable[[int, Sequence[bytes]], int]
# A folder on the way: the one that holds it, and its name. Paths of siblings share what they have
# in common, since a guest may nest long names and put thousands of folders at the end.
Way = tuple["Way", bytes] | None


class Entry(NamedTuple):
    """Something in a folder; `way` is that folder."""

    way: Way
    name: bytes
    stat: os.stat_result
    folder: int  # its descriptor, until the walk goes on

    @property
    def path(self) -> bytes:
        return b"/".join(parts_to((self.way, self.name)))


class Usage(NamedTuple):
    """What lies in a folder: bytes as the disk has them (holes take none), and entries."""

    bytes: int
    files: int


def walk(open_folder: Open, root: int, most: int, depth: int | None) -> Iterator[Entry]:
    """Depth first; a folder that is gone or cannot be opened is left out."""
    waiting: list[tuple[Way, int]] = [(None, 0)]
    with closing(_Descent(open_folder, root)) as descent:
        while waiting and most > 0:
            way, level = waiting.pop()
            try:
                folder = descent.to(way, level)
            except OSError:
                continue
            for entry in _entries(folder, way):
                yield entry
                if stat.S_ISDIR(entry.stat.st_mode) and (depth is None or level < depth):
                    waiting.append(((way, entry.name), level + 1))
                most -= 1
                if most <= 0:
                    break


class _Held(NamedTuple):
    level: int
    descriptor: int


class _Descent:
    """Holds some of the folders above the one that is looked at, and opens the next from there.

    From the top each would cost as much as it is deep, and where no path is long enough it could
    not be reached at all. Those that are held lie the closer together, the nearer they are to here.
    """

    def __init__(self, open_folder: Open, root: int) -> None:
        self._open = open_folder
        self._root = root
        self._held: list[_Held] = []

    def to(self, way: Way, level: int) -> int:
        """Opens a folder next to one on the way to the last, as a walk depth first has it."""
        while self._held and self._held[-1].level >= level:
            os.close(self._held.pop().descriptor)
        if not self._held:
            self._hold(0, self._open(self._root, ()))
        names = parts_to(way, level - self._held[-1].level)
        done = 0
        while left := len(names) - done:
            step = names[done : done + min(_MOST_NAMES, (left + 1) // 2)]
            done += len(step)
            at, descriptor = self._held[-1]
            self._hold(at + len(step), self._open(descriptor, step))
        return self._held[-1].descriptor

    def close(self) -> None:
        while self._held:
            os.close(self._held.pop().descriptor)

    def _hold(self, level: int, descriptor: int) -> None:
        self._held.append(_Held(level, descriptor))
        if len(self._held) > _MOST_HELD:
            inner = range(1, len(self._held) - 1)
            os.close(self._held.pop(min(inner, key=self._gap_without)).descriptor)

    def _gap_without(self, index: int) -> float:
        """How long a way would have to be opened again, for its distance from here."""
        above, below = self._held[index - 1].level, self._held[index + 1].level
        return (below - above) / (self._held[-1].level - above)


def measure(entries: Iterable[Entry], most_bytes: int, most_files: int) -> Usage:
    """Counts until it is too much. A file with many names counts once."""
    size = files = 0
    seen: set[tuple[int, int]] = set()
    for entry in entries:
        files += 1
        identity = (entry.stat.st_dev, entry.stat.st_ino)
        if entry.stat.st_nlink == 1 or identity not in seen:
            size += entry.stat.st_blocks * _BLOCK
        if entry.stat.st_nlink > 1:
            seen.add(identity)
        if size > most_bytes or files > most_files:
            break
    return Usage(size, files)


def parts_to(way: Way, most: int | None = None) -> tuple[bytes, ...]:
    """The names that lead there; the last so many of them."""
    parts: list[bytes] = []
    while way is not None and len(parts) != most:
        way, name = way
        parts.append(name)
    return tuple(reversed(parts))


def _entries(folder: int, way: Way) -> Iterator[Entry]:
    with os.scandir(folder) as found:
        for entry in found:
            try:
                seen = os.stat(entry.name, dir_fd=folder, follow_symlinks=False)
            except OSError:
                continue  # it went away
            yield Entry(way, os.fsencode(entry.name), seen, folder)
