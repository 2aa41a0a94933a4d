"""Everything beneath a folder, within bounds, and how much it takes."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

_BLOCK = 512  # what `st_blocks` counts, on every file system

# A folder on the way: the one that holds it, and its name. Paths of siblings share what they have
# in common, since a guest may nest long names and put thousands of folders at the end.
Way = tuple["Way", bytes] | None


class Entry(NamedTuple):
    """Something in a folder; `way` is that folder."""

    way: Way
    name: bytes
    stat: os.stat_result

    @property
    def path(self) -> bytes:
        return b"/".join(parts_to((self.way, self.name)))


class Usage(NamedTuple):
    """What lies in a folder: bytes as the disk has them (holes take none), and entries."""

    bytes: int
    files: int


def walk(
    open_folder: Callable[[tuple[bytes, ...]], int], most: int, depth: int | None
) -> Iterator[Entry]:
    """Depth first; a folder that is gone or cannot be opened is left out."""
    waiting: list[tuple[Way, int]] = [(None, 0)]
    while waiting and most > 0:
        way, level = waiting.pop()
        for entry in _entries(open_folder, way):
            yield entry
            if stat.S_ISDIR(entry.stat.st_mode) and (depth is None or level < depth):
                waiting.append(((way, entry.name), level + 1))
            most -= 1
            if most <= 0:
                break


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


def parts_to(way: Way) -> tuple[bytes, ...]:
    parts = []
    while way is not None:
        way, name = way
        parts.append(name)
    return tuple(reversed(parts))


def _entries(open_folder: Callable[[tuple[bytes, ...]], int], way: Way) -> Iterator[Entry]:
    try:
        folder = open_folder(parts_to(way))
    except OSError:
        return
    try:
        with os.scandir(folder) as found:
            for entry in found:
                try:
                    seen = os.stat(entry.name, dir_fd=folder, follow_symlinks=False)
                except OSError:
                    continue  # it went away
                yield Entry(way, os.fsencode(entry.name), seen)
    finally:
        os.close(folder)
