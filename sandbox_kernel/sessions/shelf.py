"""Workspaces as they lie on the disk, for all processes that share the root.

    ROOT/<id>             the workspace, which programs write into
    ROOT/.leases/<id>     locked by the process that uses it; its date is the last use, its content a mark
    ROOT/.removed/<n>/    a workspace and its lease on their way out
    ROOT/.lock            locked for the moment in which one of the above is made or moved

A program sees its own workspace only, so nothing else here is hostile. A folder without a lease was
not made by us, and is never touched.
"""

from __future__ import annotations

import fcntl
import os
import secrets
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from ..errors import OptionError
from ..isolation.beneath import Directory, Quota

_LEASES, _REMOVED, _LOCK = ".leases", ".removed", ".lock"
_FILES, _LEASE = "files", "lease"
_MARK_BYTES = 16
_MOST_SESSIONS = 1_000_000


def mode_of_root() -> int:
    """Programs of root have users of their own, who have to get to their workspaces."""
    return 0o711 if os.geteuid() == 0 else 0o700


class Shelf:
    """The workspaces beneath a root; every method is safe to call from any thread and process."""

    def __init__(self, root: Path, ttl_seconds: float) -> None:
        self.path = root
        self._root = Directory.at(root, is_ours=True)
        self._ttl = ttl_seconds

    def close(self) -> None:
        self._root.close()

    def open(self, session_id: str, quota: Quota) -> Directory:
        """The workspace itself, which must be there."""
        return self._root.sub(session_id, quota=quota)

    def claim(self, session_id: str) -> int | None:
        """Makes the workspace if it is not there, and takes its lease; None if that is taken.

        The lease is given back by closing the descriptor.
        """
        with self._structure():
            return self._claim(session_id)

    def touch(self, session_id: str) -> None:
        """Makes the workspace if it is not there; this is a use of it."""
        with self._structure():
            lease = self._claim(session_id)
            if lease is None:
                self._root.set_modified(f"{_LEASES}/{session_id}", time.time_ns())
            else:
                os.close(lease)

    def holds(self, session_id: str, lease: int) -> bool:
        """Whether a lease that was claimed is still that of the workspace; not if it was deleted."""
        try:
            current = self._root.stat(f"{_LEASES}/{session_id}")
        except FileNotFoundError:
            return False
        return current.st_ino == os.fstat(lease).st_ino

    def mark_of(self, session_id: str) -> str:
        """What tells the workspace from others that had, or will have, the same id; else empty.

        Neither its path nor its inode do: both are soon used again.
        """
        try:
            return self._root.read(f"{_LEASES}/{session_id}", 2 * _MARK_BYTES).decode("ascii")
        except (OSError, ValueError):  # it is gone, or these workspaces were closed
            return ""

    def put_away(self, session_id: str) -> bool:
        """Takes the workspace out of sight at once, in use or not; `sweep` removes it."""
        with self._structure():
            return _put_away(self._root, session_id)

    def put_away_expired(self) -> list[str]:
        """Those that were not used for the time to live and are not in use."""
        gone = []
        for session_id in self._leased():
            with self._structure():
                lease = _locked(self._root, session_id)
                if lease is None:
                    continue
                if self._has_expired(lease) and _put_away(self._root, session_id):
                    gone.append(session_id)
                os.close(lease)
        return gone

    def sessions(self) -> list[str]:
        """The ids of workspaces that are there and have not expired, sorted."""
        return [session_id for session_id in self._leased() if self.is_served(session_id)]

    def sweep(self) -> None:
        """Removes what was put away, unless a program still runs in it."""
        for name in self._names(_REMOVED):
            with suppress(OSError):  # it stays for the next time
                self._remove(f"{_REMOVED}/{name}")

    def _remove(self, place: str) -> None:
        with self._structure():
            lease = _locked_to_remove(self._root, place)
        try:
            self._root.remove_tree(place)
        finally:
            if lease is not None:
                os.close(lease)

    def _claim(self, session_id: str) -> int | None:
        """A workspace that has expired is put away, and another one made."""
        _refuse_a_folder_of_others(self._root, session_id)
        lease = _locked(self._root, session_id, os.O_CREAT)
        if lease is not None and self._has_expired(lease) and _put_away(self._root, session_id):
            os.close(lease)
            lease = _locked(self._root, session_id, os.O_CREAT)
        if lease is not None:
            self._root.mkdir(session_id, parents=True)
            if not os.fstat(lease).st_size:
                os.write(lease, secrets.token_hex(_MARK_BYTES).encode())
            os.utime(lease)
        return lease

    def _leased(self) -> list[str]:
        return self._names(_LEASES)

    def _names(self, folder: str) -> list[str]:
        try:
            return self._root.names(folder, _MOST_SESSIONS)
        except FileNotFoundError:
            return []

    def is_served(self, session_id: str) -> bool:
        """Whether it is there and has not expired."""
        with self._structure():
            if not _exists(self._root, session_id):
                return False
            lease = _locked(self._root, session_id)
            if lease is None:
                return True  # in use
            served = not self._has_expired(lease)
            os.close(lease)
            return served

    def _has_expired(self, lease: int) -> bool:
        return time.time() - os.fstat(lease).st_mtime > self._ttl

    @contextmanager
    def _structure(self) -> Iterator[None]:
        """While nobody else makes or moves anything."""
        lock = self._root.open(_LOCK, os.O_RDWR | os.O_CREAT)
        try:
            fcntl.flock(lock, fcntl.LOCK_EX)
            yield
        finally:
            os.close(lock)


def _locked(root: Directory, session_id: str, create: int = 0) -> int | None:
    """The lease, locked; None if somebody has it, or if it is not there and is not to be made."""
    if create:
        root.mkdir(_LEASES, parents=True)
    try:
        lease = root.open(f"{_LEASES}/{session_id}", os.O_RDWR | create)
    except FileNotFoundError:
        return None
    try:
        fcntl.flock(lease, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(lease)
        return None
    return lease


def _refuse_a_folder_of_others(root: Directory, session_id: str) -> None:
    if _exists(root, session_id) and not _exists(root, f"{_LEASES}/{session_id}"):
        raise OptionError(
            f"session: there is already a folder {session_id!r} in the root of the workspaces,"
            " and it is not a workspace; choose another id or another root",
            "session",
        )


def _exists(root: Directory, path: str) -> bool:
    try:
        root.stat(path)
    except FileNotFoundError:
        return False
    return True


def _put_away(root: Directory, session_id: str) -> bool:
    """Workspace and lease together, so that whoever sweeps can tell whether it is still in use."""
    place = f"{_REMOVED}/{secrets.token_hex(8)}"
    there = _exists(root, session_id) and _exists(root, f"{_LEASES}/{session_id}")
    if there:
        root.mkdir(place, parents=True)
        root.rename(session_id, f"{place}/{_FILES}")
        root.rename(f"{_LEASES}/{session_id}", f"{place}/{_LEASE}")
    return there


def _locked_to_remove(root: Directory, place: str) -> int | None:
    """None if another sweep was cut short; BlockingIOError while a program runs in it."""
    try:
        lease = root.open(f"{place}/{_LEASE}", os.O_RDWR)
    except FileNotFoundError:
        return None
    try:
        fcntl.flock(lease, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(lease)
        raise
    return lease
