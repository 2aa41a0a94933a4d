"""Workspaces: a directory for each session, which outlives programs and goes when it is not used."""

from __future__ import annotations

import math
import os
import re
import stat
import threading
import weakref
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from ..brief import brief_text
from ..errors import OptionError
from ..isolation.beneath import Directory, Quota
from .keeper import Keeper
from .lease import Lease, Leases
from .line import Line
from .private import PrivateFolder
from .shelf import Shelf, mode_of_root

_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,127}")
_MOST_FILES = 4_000  # in one workspace


class Workspaces:
    """Directories of sessions beneath a root that processes may share.

    `root=None` is a private directory that goes with the process. A workspace that was not used for
    `ttl_seconds` goes, unless something runs in it. `max_bytes` is what one may hold.
    """

    def __init__(
        self,
        root: str | os.PathLike[str] | None = None,
        ttl_seconds: float = 3600,
        max_bytes: int = 256 * 2**20,
    ) -> None:
        self.ttl_seconds = _positive("ttl_seconds", ttl_seconds, (int, float))
        self.max_bytes = int(_positive("max_bytes", max_bytes, (int,)))
        self.quota = Quota(self.max_bytes, _MOST_FILES)
        self.line = Line()
        self.leases = Leases()
        self._lock = threading.Lock()
        self._given_root = None if root is None else _usable(root)
        self._store: _Store | None = None
        self._closed = False

    @property
    def root(self) -> Path:
        return self.shelf.path

    @property
    def shelf(self) -> Shelf:
        """What lies on the disk."""
        return self._opened().shelf

    @property
    def keeper(self) -> Keeper:
        """What looks after it in the background."""
        return self._opened().keeper

    def open(self, session_id: str) -> Workspace:
        """The workspace of a session, made if it is not there; this is a use of it."""
        checked_id(session_id)
        self.shelf.touch(session_id)
        self.keeper.start()
        return Workspace(self, session_id)

    def lease(self, session_id: str, on_delete: Callable[[], None] | None = None) -> Lease:
        """For whoever runs something in the workspace: see `Lease`."""
        return Lease(self, checked_id(session_id), on_delete)

    def delete(self, session_id: str) -> bool:
        """Whether there was one. Its files are out of reach at once, whatever runs in it is
        terminated, and the disk is freed soon after."""
        there = self.shelf.put_away(checked_id(session_id))
        self.leases.look_after()
        self.keeper.sweep_soon()
        return there

    def evict(self) -> list[str]:
        """Deletes the workspaces that were not used for the time to live, and says which.

        It is not necessary to call it: it happens by itself while this object exists.
        """
        gone = self.shelf.put_away_expired()
        self.keeper.sweep_soon()
        return gone

    def sessions(self) -> list[str]:
        """The ids of all workspaces, sorted."""
        return self.shelf.sessions()

    def __contains__(self, session_id: str) -> bool:
        """Whether the session has a workspace; asking is no use of it."""
        return self.shelf.is_served(checked_id(session_id))

    def close(self) -> None:
        """Ends the work in the background; a private root goes. Workspaces elsewhere stay."""
        with self._lock:
            self._closed = True
            store, self._store = self._store, None
        if store is not None:
            store.end()

    def directory_of(self, session_id: str) -> Directory:
        return self.shelf.open(session_id, self.quota)

    def _opened(self) -> _Store:
        """Made when it is first asked for, because a private root may never be needed."""
        with self._lock:
            if self._closed:
                raise RuntimeError("these workspaces were closed; make new ones")
            if self._store is None:
                private = None
                root = self._given_root
                if root is None:
                    private = PrivateFolder()
                    root = private.path
                    root.chmod(mode_of_root())
                shelf = Shelf(root, self.ttl_seconds)
                keeper = Keeper(shelf, self.ttl_seconds, self.leases.look_after)
                end = weakref.finalize(self, _finish, keeper, shelf, private)
                self._store = _Store(shelf, keeper, end)
            return self._store


class _Store(NamedTuple):
    """What is open while the workspaces are; `end` closes it, at the latest with the process."""

    shelf: Shelf
    keeper: Keeper
    end: Callable[[], object]


class Workspace:
    """The directory of a session, for the host: paths are relative, nothing in it is followed."""

    def __init__(self, workspaces: Workspaces, session_id: str) -> None:
        self.id = session_id
        self._workspaces = workspaces

    @property
    def path(self) -> Path:
        """Where it lies. What a program left there may be links to anywhere: do not follow them."""
        return self._workspaces.root / self.id

    def __fspath__(self) -> str:
        return str(self.path)

    def __repr__(self) -> str:
        return f"Workspace({self.id!r})"

    def names(self) -> list[str]:
        """The paths of its regular files, sorted."""
        with self._directory() as directory:
            found = [
                each for each in directory.walk(_MOST_FILES) if stat.S_ISREG(each.stat.st_mode)
            ]
            return sorted(each.path.decode("utf-8", "backslashreplace") for each in found)

    def read(self, path: str, most: int | None = None) -> bytes:
        """A file of at most so many bytes, else OSError (EFBIG)."""
        with self._directory() as directory:
            return directory.read(path, self._workspaces.max_bytes if most is None else most)

    def write(self, path: str, data: str | bytes) -> None:
        """Puts a file there, with the folders on the way; OSError (EDQUOT) over the quota."""
        with self._directory() as directory:
            content = data.encode() if isinstance(data, str) else bytes(memoryview(data))
            user = directory.stat().st_uid
            owner = None if user == os.geteuid() else user
            directory.write(path, content, parents=True, owner=owner)

    def lease(self, on_delete: Callable[[], None] | None = None) -> Lease:
        return self._workspaces.lease(self.id, on_delete)

    def _directory(self) -> Directory:
        self._workspaces.shelf.touch(self.id)
        return self._workspaces.directory_of(self.id)


def checked_id(session_id: object) -> str:
    """OptionError says what an id looks like."""
    if isinstance(session_id, str) and _ID.fullmatch(session_id):
        return session_id
    given = brief_text(session_id) if isinstance(session_id, str) else type(session_id).__name__
    raise OptionError(
        f"session: {given} is not a session id: 1 to 128 letters, digits, dots, dashes and"
        " underscores, of which the first is a letter or a digit",
        "session",
    )


def _positive(name: str, value: float, kinds: tuple[type, ...]) -> float:
    is_number = isinstance(value, kinds) and not isinstance(value, bool)
    if not is_number or not 0 < value < math.inf:
        wanted = "a whole number" if kinds == (int,) else "a number"
        raise OptionError(f"{name} must be {wanted} above 0, not {value!r}", name)
    return value


def _usable(root: str | os.PathLike[str]) -> Path:
    try:
        path = Path(root).absolute()
        path.mkdir(mode=mode_of_root(), parents=True, exist_ok=True)
        if not os.access(path, os.W_OK | os.X_OK):
            raise PermissionError(13, "it cannot be written to")
    except (OSError, TypeError) as error:
        why = error.strerror if isinstance(error, OSError) else str(error)
        raise OptionError(f"root: {root!r} cannot hold workspaces: {why}", "root") from error
    return path


def _finish(keeper: Keeper, shelf: Shelf, private: PrivateFolder | None) -> None:
    keeper.stop()
    shelf.sweep()
    shelf.close()
    if private is not None:
        private.remove()
