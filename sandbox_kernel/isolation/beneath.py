"""A folder whose content is hostile, reached by descriptors only.

Whoever writes into it may put links, pipes and devices there, and swap one thing for another at any
moment. So a path is never checked first and used afterwards: it is opened by the rules of
`resolve.py`, and what was opened is looked at. Everything that counts is counted within bounds.

Paths are relative to the folder, with `/` between names. Errors are Python's own, with the number
that Linux gives: ENOENT, EEXIST, ENOTDIR, EISDIR, ENOTEMPTY; ELOOP at a link on the way, EXDEV at a
path that leads out, ENXIO at something that is neither file nor folder, EDQUOT over the quota, EFBIG
over the size that was allowed.
"""

from __future__ import annotations

import errno
import os
import secrets
import stat
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from types import TracebackType
from typing import NamedTuple

from . import removal
from .resolve import O_PATH, failure, open_beneath, parts_of
from .walk import Entry, Usage, measure, walk

_FOLDER = os.O_RDONLY | os.O_DIRECTORY
_NEW_FILE = os.O_WRONLY | os.O_CREAT | os.O_EXCL
_CHUNK = 2**20
_MOST_GIVEN = 100_000

Path = str | bytes


class Quota(NamedTuple):
    """What may lie in a folder; folders, links and the like count as files."""

    bytes: int
    files: int


class Directory:
    """A root, and everything beneath it; owns the descriptor that it is given."""

    def __init__(
        self, descriptor: int, *, quota: Quota | None = None, is_ours: bool = False
    ) -> None:
        """`is_ours`: permissions that stand in the way are changed; for folders of sandboxes."""
        self._root = descriptor
        self._quota = quota
        self._is_ours = is_ours

    @classmethod
    def at(
        cls, path: str | os.PathLike[str], *, quota: Quota | None = None, is_ours: bool = False
    ) -> Directory:
        """The folder at a path of the host's own, which may lead through links."""
        descriptor = os.open(path, _FOLDER | os.O_CLOEXEC)
        return cls(descriptor, quota=quota, is_ours=is_ours)

    def sub(self, path: Path, *, quota: Quota | None = None) -> Directory:
        """A folder of it as a root of its own."""
        folder = self._open_folder(parts_of(path))
        return Directory(folder, quota=quota, is_ours=self._is_ours)

    def fileno(self) -> int:
        return self._root

    def close(self) -> None:
        if self._root >= 0:
            root, self._root = self._root, -1
            os.close(root)

    def __enter__(self) -> Directory:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    # ------------------------------------------------------------------ reading

    def open(self, path: Path, flags: int = os.O_RDONLY, mode: int = 0o600) -> int:
        """A descriptor of a regular file; opening never waits, as it would for a pipe."""
        descriptor = self._open(parts_of(path), flags | os.O_NONBLOCK | os.O_NOCTTY, mode)
        kind = os.fstat(descriptor).st_mode
        if stat.S_ISREG(kind):
            return descriptor
        os.close(descriptor)
        raise failure(errno.EISDIR if stat.S_ISDIR(kind) else errno.ENXIO, path)

    def read(self, path: Path, most: int) -> bytes:
        """A whole file of at most so many bytes, whatever size it claims to have."""
        with os.fdopen(self.open(path), "rb", buffering=0) as file:
            found = bytearray()
            while chunk := file.read(min(_CHUNK, most + 1 - len(found))):
                found += chunk
        if len(found) > most:
            raise failure(errno.EFBIG, path)
        return bytes(found)

    def stat(self, path: Path = "") -> os.stat_result:
        """Of the thing itself, also if it is a link."""
        parts = parts_of(path)
        if not parts:
            return os.fstat(self._root)
        with self._parent(parts) as folder:
            return os.stat(parts[-1], dir_fd=folder, follow_symlinks=False)

    def names(self, path: Path = "", most: int = 10_000) -> list[str]:
        """What a folder holds, sorted; EFBIG if that is more than so many."""
        folder = self._open_folder(parts_of(path))
        try:
            with os.scandir(folder) as entries:
                found = [entry.name for _, entry in zip(range(most + 1), entries, strict=False)]
        finally:
            os.close(folder)
        if len(found) > most:
            raise failure(errno.EFBIG, path)
        return sorted(found)

    def walk(self, most: int, depth: int | None = None) -> Iterator[Entry]:
        """Up to so many entries beneath it, in any order; folders that cannot be read are left out."""
        return walk(self._open_folder_at, self._root, most, depth)

    def usage(self, quota: Quota | None = None) -> Usage:
        """What lies in it, counted until it is more than the quota."""
        limit = quota or self._quota or Quota(2**63, 2**20)
        return measure(self.walk(limit.files + 1), limit.bytes, limit.files)

    # ------------------------------------------------------------------ writing

    def write(
        self,
        path: Path,
        data: bytes,
        *,
        mode: int = 0o600,
        owner: int | None = None,
        parents: bool = False,
    ) -> None:
        """Puts a file there at once, in place of a file or link that was there, never through it."""
        parts = self._of_something(path)
        if parents:
            self.mkdir(b"/".join(parts[:-1]), parents=True, owner=owner)
        with self._parent(parts) as folder:
            self._check_room(len(data), _blocks_of(folder, parts[-1]), path)
            part = f".{secrets.token_hex(8)}.part"
            descriptor = os.open(part, _NEW_FILE | os.O_CLOEXEC, mode, dir_fd=folder)
            try:
                with os.fdopen(descriptor, "wb", buffering=0) as file:
                    _fill(file.fileno(), data, owner)
                os.replace(part, parts[-1], src_dir_fd=folder, dst_dir_fd=folder)
            except BaseException:
                _unlink(folder, part)
                raise

    def append(self, path: Path, data: bytes) -> None:
        """To a file, which is made if it is not there."""
        self._check_room(len(data), None, path)
        with os.fdopen(self.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND), "ab") as file:
            file.write(data)

    def mkdir(
        self, path: Path, *, mode: int = 0o700, owner: int | None = None, parents: bool = False
    ) -> None:
        """With `parents` also the folders on the way; then one that is there is not an error."""
        parts = parts_of(path)
        if parents:
            self._make_way(parts, mode, owner)
        elif not parts:
            raise failure(errno.EEXIST, path)
        else:
            with self._parent(parts) as folder:
                self._check_room(0, _blocks_of(folder, parts[-1]), path)
                _make(folder, parts[-1], mode, owner)

    def remove(self, path: Path) -> None:
        """A file, a link, anything that is not a folder, or an empty folder."""
        parts = self._of_something(path)
        with self._parent(parts) as folder:
            try:
                os.unlink(parts[-1], dir_fd=folder)
            except (IsADirectoryError, PermissionError):  # macOS says the latter
                if not _is_folder(folder, parts[-1]):
                    raise
                os.rmdir(parts[-1], dir_fd=folder)

    def remove_tree(self, path: Path) -> None:
        """A folder with everything in it; without recursion, and without following anything."""
        with self.sub(path) as folder:
            removal.empty(folder.fileno())
        self.remove(path)

    def empty(self) -> None:
        """Everything in it, but not itself."""
        removal.empty(self._root)

    def rename(self, old: Path, new: Path) -> None:
        """In place of a file or an empty folder that is there, as Linux does it."""
        source, target = self._of_something(old), self._of_something(new)
        with self._parent(source) as before, self._parent(target) as after:
            if self._is_ours:
                removal.permit_named(before, source[-1])  # a folder that moves is written to
            os.rename(source[-1], target[-1], src_dir_fd=before, dst_dir_fd=after)

    def set_modified(self, path: Path, nanoseconds: int) -> None:
        """Of the thing itself, also if it is a link."""
        parts = self._of_something(path)
        with self._parent(parts) as folder:
            both = (nanoseconds, nanoseconds)
            os.utime(parts[-1], ns=both, dir_fd=folder, follow_symlinks=False)

    def give_to(self, owner: int) -> None:
        """Everything in it, and itself, to a user who is to work there.

        A file with several names stays whose it is, since one of its names may lie elsewhere.
        """
        for entry in self.walk(_MOST_GIVEN):
            seen = entry.stat
            has_one_name = stat.S_ISDIR(seen.st_mode) or seen.st_nlink == 1
            if seen.st_uid != owner and has_one_name:
                os.chown(entry.name, owner, -1, dir_fd=entry.folder, follow_symlinks=False)
        if os.fstat(self._root).st_uid != owner:
            os.fchown(self._root, owner, -1)

    # ------------------------------------------------------------------ within

    def _open(self, parts: tuple[bytes, ...], flags: int, mode: int = 0) -> int:
        return self._open_at(self._root, parts, flags, mode)

    def _open_at(self, folder: int, parts: Sequence[bytes], flags: int, mode: int = 0) -> int:
        try:
            return open_beneath(folder, parts, flags, mode)
        except PermissionError:
            if not self._is_ours:
                raise
            _permit(folder, parts)
            return open_beneath(folder, parts, flags, mode)

    def _open_folder(self, parts: tuple[bytes, ...]) -> int:
        return self._open_folder_at(self._root, parts)

    def _open_folder_at(self, folder: int, parts: Sequence[bytes]) -> int:
        """From one that is beneath the root as well."""
        found = self._open_at(folder, parts, _FOLDER)
        if self._is_ours:
            removal.permit(found)  # it may be readable and closed to everything else
        return found

    @contextmanager
    def _parent(self, parts: tuple[bytes, ...]) -> Iterator[int]:
        folder = self._open_folder(parts[:-1])
        try:
            yield folder
        finally:
            os.close(folder)

    def _of_something(self, path: Path) -> tuple[bytes, ...]:
        parts = parts_of(path)
        if not parts:
            raise failure(errno.EBUSY, path)  # the root itself stays as it is
        return parts

    def _make_way(self, parts: tuple[bytes, ...], mode: int, owner: int | None) -> None:
        """Room is looked for once, for all that are missing: they may be thousands."""
        has_room = False
        at = self._open_folder(())
        try:
            for done, name in enumerate(parts):
                if not has_room and _blocks_of(at, name) is None:
                    self._check_room(0, None, b"/".join(parts), len(parts) - done)
                    has_room = True
                try:
                    _make(at, name, mode, owner)
                except FileExistsError:
                    if not _is_folder(at, name):
                        raise
                above, at = at, self._open_folder_at(at, (name,))
                os.close(above)
        finally:
            os.close(at)

    def _check_room(self, more: int, replaced: int | None, path: Path, new: int = 1) -> None:
        """`replaced`: how much that takes which makes room; None for something new, or several."""
        if self._quota is None:
            return
        used = self.usage()
        files = used.files + (new if replaced is None else 0)
        if used.bytes - (replaced or 0) + more > self._quota.bytes or files > self._quota.files:
            raise failure(errno.EDQUOT, path)


def _permit(folder: int, parts: Sequence[bytes]) -> None:
    """Itself, every folder on the way, and what that leads to."""
    at = os.dup(folder)
    try:
        removal.permit(at)
        for part in parts:
            below = open_beneath(at, (part,), O_PATH)
            os.close(at)
            at = below
            removal.permit(at)
    finally:
        os.close(at)


def _make(folder: int, name: bytes, mode: int, owner: int | None) -> None:
    os.mkdir(name, mode, dir_fd=folder)
    if owner is not None:
        os.chown(name, owner, -1, dir_fd=folder, follow_symlinks=False)


def _is_folder(folder: int, name: bytes) -> bool:
    return stat.S_ISDIR(os.stat(name, dir_fd=folder, follow_symlinks=False).st_mode)


def _fill(descriptor: int, data: bytes, owner: int | None) -> None:
    if owner is not None:
        os.fchown(descriptor, owner, -1)
    rest = memoryview(data)
    while rest:
        rest = rest[os.write(descriptor, rest) :]


def _blocks_of(folder: int, name: bytes) -> int | None:
    try:
        return os.stat(name, dir_fd=folder, follow_symlinks=False).st_blocks * 512
    except FileNotFoundError:
        return None


def _unlink(folder: int, name: str) -> None:
    try:
        os.unlink(name, dir_fd=folder)
    except OSError:
        pass  # what it could not write may not be there
