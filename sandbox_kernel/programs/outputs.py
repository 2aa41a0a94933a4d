"""Output files: what a program wrote or changed, collected when nothing of it lives any more.

Everything in the directory is the program's doing and may be meant for us: links, pipes, holes,
names of any bytes, a million entries. Regular files are read, within bounds; the rest is left.
"""

from __future__ import annotations

import base64
import errno
import itertools
import mimetypes
import os
import stat
import time
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from ..brief import brief
from ..budget import clipped
from ..isolation.beneath import Directory
from ..isolation.resolve import MOST_BYTES, parts_of
from ..isolation.walk import Entry

_MOST_FILES = 1_000  # that come back with their data
_MOST_BYTES = 64 * 2**20  # of data in all
_DEEPEST = 32  # folders above a file that comes back with its data
_DEEPEST_NAMED = 256  # and above one that is named at all
_MOST_ENTRIES = 20_000  # that are looked at
_MOST_NAMED = 2**22  # bytes of names
_TICK = 20_000_000  # nanoseconds: two writes within them may have the same date

Identity = tuple[int, int, int, int, int]
Snapshot = Mapping[bytes, Identity]


@dataclass(frozen=True, slots=True)
class OutputFile:
    """A file of a program. `data` is None, and `truncated` true, if it was too large to come back."""

    name: str  # its path in the directory; bytes that are not UTF-8 are spelled \\xff
    size: int
    truncated: bool
    data: bytes | None

    def __repr__(self) -> str:
        return brief(self)

    @property
    def mime(self) -> str:
        """Guessed from the name."""
        return mimetypes.guess_type(self.name)[0] or "application/octet-stream"

    def to_json(self, with_data: bool = False) -> dict[str, Any]:
        """Name, size and whether it is truncated; with its data also that, in base64, and its type."""
        shape: dict[str, Any] = {"name": self.name, "size": self.size, "truncated": self.truncated}
        if with_data:
            data = None if self.data is None else base64.b64encode(self.data).decode("ascii")
            shape |= {"mime": self.mime, "data": data}
        return shape


class Declared(NamedTuple):
    """The files that a program declared as its result, and why others were left out."""

    files: list[OutputFile]
    problems: list[str]


def snapshot(directory: Directory) -> Snapshot:
    """What is there before a program starts.

    The clock that dates files ticks slowly. What was written within a tick is dated back, or else
    a program that writes at once would leave the date as it was.
    """
    now = time.time_ns()
    return {
        path: _dated_back(entry) if now - entry.stat.st_mtime_ns < _TICK else _identity(entry.stat)
        for path, entry in _regular_files(directory)
    }


def collect(
    directory: Directory, before: Snapshot, max_file_bytes: int, hidden: Collection[str] = ()
) -> list[OutputFile]:
    """Regular files that were written or changed since, sorted by path; `hidden` are not told."""
    found: list[tuple[str, bytes, int]] = []
    room = _MOST_NAMED
    for path, entry in _regular_files(directory):
        name = path.decode("utf-8", "backslashreplace")
        if before.get(path) != _identity(entry.stat) and name not in hidden:
            found.append((name, path, entry.stat.st_size))
            room -= len(path)
        if room < 0:
            break
    reader = _Reader(directory, max_file_bytes)
    outputs = (reader.output(*each) for each in sorted(found))
    return [output for output in outputs if output is not None]


def declared(directory: Directory, names: Iterable[Any], max_file_bytes: int) -> Declared:
    """The files that a program names as its result: relative paths beneath its directory.

    What it names is as hostile as what it wrote; beyond the number of files that come back, it is
    not looked at.
    """
    reader = _Reader(directory, max_file_bytes)
    found: dict[str, OutputFile] = {}
    problems = []
    for given in itertools.islice(names, _MOST_FILES):
        try:
            name = _checked_name(given)
            if name not in found:
                found[name] = reader.declared(name)
        except (OSError, TypeError, UnicodeEncodeError) as error:
            problems.append(f"{clipped(str(given), 200)}: {_why(error)}")
    return Declared(list(found.values()), problems)


class _Reader:
    """Reads files until their number and size in all are used up; then it only names them."""

    def __init__(self, directory: Directory, max_file_bytes: int) -> None:
        self._directory = directory
        self._max_file_bytes = max_file_bytes
        self._files = _MOST_FILES
        self._bytes = _MOST_BYTES

    def declared(self, name: str) -> OutputFile:
        """Raises what opening it raises."""
        descriptor = self._directory.open(name)
        size = os.fstat(descriptor).st_size
        os.close(descriptor)
        return self.output(name, os.fsencode(name), size) or OutputFile(name, size, True, None)

    def output(self, name: str, path: bytes, size: int) -> OutputFile | None:
        """None if the file is gone."""
        try:
            data = self._data(path, size)
        except FileNotFoundError:
            return None
        except OSError:
            data = None  # it grew, became something else, or is not ours to read
        if data is None:
            return OutputFile(name, size, True, None)
        self._files -= 1
        self._bytes -= len(data)
        return OutputFile(name, len(data), False, data)

    def _data(self, path: bytes, size: int) -> bytes | None:
        most = min(self._max_file_bytes, self._bytes)
        if size > most or not self._files or path.count(b"/") > _DEEPEST:
            return None
        return self._directory.read(path, most)


def _identity(found: os.stat_result) -> Identity:
    return found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns


def _regular_files(directory: Directory) -> Iterator[tuple[bytes, Entry]]:
    """Each with its path, if Linux takes that in one call."""
    for entry in directory.walk(_MOST_ENTRIES, _DEEPEST_NAMED):
        if stat.S_ISREG(entry.stat.st_mode) and len(path := entry.path) < MOST_BYTES:
            yield path, entry


def _dated_back(entry: Entry) -> Identity:
    date = entry.stat.st_mtime_ns - _TICK
    os.utime(entry.name, ns=(date, date), dir_fd=entry.folder, follow_symlinks=False)
    return _identity(os.stat(entry.name, dir_fd=entry.folder, follow_symlinks=False))


def _checked_name(given: Any) -> str:
    if not isinstance(given, str):
        raise TypeError
    given.encode()
    return b"/".join(parts_of(given)).decode()


def _why(error: Exception) -> str:
    if isinstance(error, OSError) and error.strerror:
        return _REASONS.get(error.errno or 0, error.strerror)
    return "is not the name of a file"


_REASONS = {
    errno.ENOENT: "there is no such file",
    errno.ENXIO: "is not a regular file",
    errno.EXDEV: "leads out of the program's directory",
    errno.EISDIR: "is a folder",
    errno.ELOOP: "is a link, or behind one",
}
