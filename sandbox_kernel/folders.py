"""Text files of a folder that somebody else may have filled: within bounds, no link followed."""

from __future__ import annotations

import errno
import os
import stat
from collections import deque
from collections.abc import Collection
from dataclasses import dataclass, field

from .isolation.beneath import Directory
from .spelling import nearest

_LEFT_ALONE = "node_modules"  # what is installed is not the folder's own; nor are hidden files


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

    `exceeded` is the bound that ended the search, as in `it has more than 10 files to read`.
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
    with Directory.at(folder) as directory:
        try:
            _Search(directory, tuple(suffixes), bounds, found.texts).run()
        except _Exceeded as reached:
            found.exceeded = str(reached)
    return found


def read_text(path: str | os.PathLike[str], most: int) -> str:
    """One file that somebody named: links are followed. Raises OSError or UnicodeDecodeError."""
    return read_bytes(path, most).decode("utf-8-sig")


def read_bytes(path: str | os.PathLike[str], most: int) -> bytes:
    """Likewise, whatever is in it."""
    with open(path, "rb", opener=_without_waiting) as file:
        if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
            raise OSError(errno.EINVAL, "it is not a regular file")
        content = file.read(most + 1)
    if len(content) > most:
        raise OSError(errno.EFBIG, f"it has more than {most:,} bytes")
    return content


def did_you_mean(path: str | os.PathLike[str]) -> str:
    """`; did you mean rows.json?` for a file that does not exist, if one has nearly that name."""
    folder, name = os.path.split(path)
    try:
        with os.scandir(folder or ".") as entries:
            close = nearest(name, (entry.name for entry in entries))
    except OSError:
        return ""
    return f"; did you mean {os.path.join(folder, close)}?" if close else ""


def _without_waiting(path: str, flags: int) -> int:
    """A pipe would make us wait for somebody who writes to it."""
    return os.open(path, flags | os.O_NONBLOCK)


class _Search:
    """Breadth first. What a name belongs to is found out by opening it, not by looking first."""

    def __init__(
        self, directory: Directory, suffixes: tuple[str, ...], bounds: Bounds, texts: dict[str, str]
    ) -> None:
        self._directory = directory
        self._suffixes = suffixes
        self._bounds = bounds
        self._texts = texts
        self._entries = self._bytes = 0
        self._waiting: deque[str] = deque([""])  # what may be a folder

    def run(self) -> None:
        while self._waiting:
            folder = self._waiting.popleft()
            for name in self._names(folder):
                path = f"{folder}/{name}" if folder else name
                if not name.endswith(self._suffixes) or not self._read(path):
                    self._waiting.append(path)

    def _names(self, folder: str) -> list[str]:
        try:
            names = self._directory.names(folder, self._bounds.entries - self._entries)
        except OSError as error:
            if error.errno == errno.EFBIG:
                raise _Exceeded(f"it has more than {self._bounds.entries:,} entries") from None
            return []  # not a folder, or one that cannot be read
        self._entries += len(names)
        considered = [name for name in names if _is_considered(name)]
        if considered and folder.count("/") + bool(folder) > self._bounds.depth:
            raise _Exceeded(f"its folders are nested more than {self._bounds.depth} deep")
        return considered

    def _read(self, path: str) -> bool:
        """False if it is a folder; links, pipes and what cannot be read are left out."""
        try:
            content = self._directory.read(path, self._bounds.bytes - self._bytes)
        except IsADirectoryError:
            return False
        except OSError as error:
            if error.errno == errno.EFBIG:
                raise _Exceeded(f"its files have more than {self._bounds.bytes:,} bytes") from None
            return True
        if len(self._texts) >= self._bounds.files:
            raise _Exceeded(f"it has more than {self._bounds.files:,} files to read")
        self._bytes += len(content)
        self._texts[path] = content.decode("utf-8", "replace")
        return True


def _is_considered(name: str) -> bool:
    """Names with control characters, or that are not Unicode, cannot be written in an import."""
    return name.isprintable() and not name.startswith(".") and name != _LEFT_ALONE
