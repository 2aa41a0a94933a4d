"""Text files beneath a folder: read within bounds, without following a link.

Everything is opened by descriptors from the folder down, so that a link or a pipe that somebody
puts in the way meanwhile is not followed or waited for either.
"""

from __future__ import annotations

import os
import stat
from collections import deque
from collections.abc import Collection, Iterator
from dataclasses import dataclass, field
from itertools import islice

_FOLDER_FLAGS = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_FILE_FLAGS = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_LEFT_ALONE = "node_modules"  # what is installed is not the folder's own; nor are hidden files

Parts = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Bounds:
    """How much is read at most."""

    files: int
    bytes: int  # of all files
    entries: int  # names looked at, whatever they belong to
    depth: int  # folders within folders


@dataclass(slots=True)
class Found:
    """The text of each file by its path beneath the folder, with slashes.

    `exceeded` is the bound that ended the search, as in `it has more than 10 files`.
    """

    texts: dict[str, str] = field(default_factory=dict)
    exceeded: str | None = None


class _Exceeded(Exception):
    pass


def read_texts(folder: str | os.PathLike[str], suffixes: Collection[str], bounds: Bounds) -> Found:
    """The files with one of these suffixes, those nearest to the folder first.

    Hidden files and `node_modules` are left alone. Bytes that are not UTF-8 are replaced, as every
    JavaScript engine does it.
    """
    found = Found()
    root = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        _Search(root, tuple(suffixes), bounds, found.texts).run()
    except _Exceeded as reached:
        found.exceeded = str(reached)
    finally:
        os.close(root)
    return found


def read_text(path: str | os.PathLike[str], most: int) -> str:
    """One file that somebody named: links are followed. Raises OSError or UnicodeDecodeError."""
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    try:
        content = _content(descriptor, most)
    finally:
        os.close(descriptor)
    if content is None:
        raise OSError(0, "it is not a regular file")
    if len(content) > most:
        raise OSError(0, f"it has more than {most:,} bytes")
    return content.decode("utf-8-sig")


class _Search:
    """Breadth first; only one folder is open at a time."""

    def __init__(self, root: int, suffixes: Parts, bounds: Bounds, texts: dict[str, str]) -> None:
        self._root = root
        self._suffixes = suffixes
        self._bounds = bounds
        self._texts = texts
        self._entries = self._bytes = 0
        self._waiting: deque[Parts] = deque([()])

    def run(self) -> None:
        while self._waiting:
            parts = self._waiting.popleft()
            if len(parts) > self._bounds.depth:
                raise _Exceeded(f"its folders are nested more than {self._bounds.depth} deep")
            try:
                folder = self._opened(parts)
            except OSError:
                continue  # unreadable, or not a folder any more
            try:
                self._visit(folder, parts)
            finally:
                os.close(folder)

    def _opened(self, parts: Parts) -> int:
        """Step by step, because `O_NOFOLLOW` is about the last part of a path only."""
        folder = os.dup(self._root)
        for part in parts:
            try:
                inner = os.open(part, _FOLDER_FLAGS, dir_fd=folder)
            finally:
                os.close(folder)
            folder = inner
        return folder

    def _visit(self, folder: int, parts: Parts) -> None:
        for entry in self._listed(folder):
            path = (*parts, entry.name)
            if entry.is_dir(follow_symlinks=False):
                self._waiting.append(path)
            elif entry.name.endswith(self._suffixes):
                self._read(folder, path)

    def _listed(self, folder: int) -> Iterator[os.DirEntry[str]]:
        with os.scandir(folder) as scan:
            entries = list(islice(scan, self._bounds.entries - self._entries + 1))
        self._entries += len(entries)
        if self._entries > self._bounds.entries:
            raise _Exceeded(f"it has more than {self._bounds.entries:,} entries")
        for entry in sorted(entries, key=lambda entry: entry.name):
            if _is_considered(entry.name):
                yield entry

    def _read(self, folder: int, path: Parts) -> None:
        try:
            descriptor = os.open(path[-1], _FILE_FLAGS, dir_fd=folder)
        except OSError:
            return  # a link, unreadable, or gone
        try:
            content = _content(descriptor, self._bounds.bytes - self._bytes)
        finally:
            os.close(descriptor)
        if content is not None:
            self._keep("/".join(path), content)

    def _keep(self, path: str, content: bytes) -> None:
        self._bytes += len(content)
        if self._bytes > self._bounds.bytes:
            raise _Exceeded(f"its files have more than {self._bounds.bytes:,} bytes")
        if len(self._texts) >= self._bounds.files:
            raise _Exceeded(f"it has more than {self._bounds.files:,} files to read")
        self._texts[path] = content.decode("utf-8", "replace")


def _is_considered(name: str) -> bool:
    """Names with control characters, or that are not Unicode, cannot be written in an import."""
    return name.isprintable() and not name.startswith(".") and name != _LEFT_ALONE


def _content(descriptor: int, most: int) -> bytes | None:
    """At most one byte more than `most`; None if it is not a regular file."""
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        return None
    pieces: list[bytes] = []
    room = most + 1
    while room > 0 and (piece := os.read(descriptor, min(room, 2**20))):
        pieces.append(piece)
        room -= len(piece)
    return b"".join(pieces)
