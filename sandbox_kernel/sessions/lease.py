"""The right to use a workspace: one program at a time, the others wait."""

from __future__ import annotations

import asyncio
import logging
import os
import threading
import time
from collections.abc import Callable
from types import TracebackType
from typing import TYPE_CHECKING

from ..isolation.beneath import Directory
from .line import Place

if TYPE_CHECKING:
    from .workspaces import Workspaces

_log = logging.getLogger("sandbox_kernel")
_LOOK_AGAIN = 0.05  # seconds, while another process has the workspace


class Lease:
    """`with` or `async with` waits for the workspace and gives it back at the end.

    Deleting the workspace calls `on_delete` once, from any thread; the lease then has to be given
    back soon. Its files stay where they are until then, out of sight of others.
    """

    def __init__(
        self, workspaces: Workspaces, session_id: str, on_delete: Callable[[], None] | None
    ) -> None:
        self.session_id = session_id
        self._workspaces = workspaces
        self._shelf = workspaces.shelf
        self._keeper = workspaces.keeper
        self._on_delete = on_delete
        self._place: Place | None = None
        self._descriptor: int | None = None
        self._directory: Directory | None = None
        self._lock = threading.Lock()
        self._revoked = False

    @property
    def directory(self) -> Directory:
        """The workspace; closed when the lease is given back."""
        if self._directory is None:
            raise RuntimeError("the lease is not held: use it in a `with` statement")
        return self._directory

    @property
    def revoked(self) -> bool:
        """Whether the workspace was deleted meanwhile."""
        return self._revoked

    def __enter__(self) -> Lease:
        self._place = self._workspaces.line.join(self.session_id)
        try:
            self._place.result()
            while not self._take():
                time.sleep(_LOOK_AGAIN)
        except BaseException:
            self._leave()
            raise
        return self

    async def __aenter__(self) -> Lease:
        self._place = self._workspaces.line.join(self.session_id)
        try:
            await asyncio.wrap_future(self._place)
            while not self._take():  # noqa: ASYNC110 (another process sends no event)
                await asyncio.sleep(_LOOK_AGAIN)
        except BaseException:
            self._leave()
            raise
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None = None,
        error: BaseException | None = None,
        trace: TracebackType | None = None,
    ) -> None:
        self._leave()

    async def __aexit__(
        self,
        kind: type[BaseException] | None = None,
        error: BaseException | None = None,
        trace: TracebackType | None = None,
    ) -> None:
        self._leave()

    def revoke_if_deleted(self) -> None:
        """Another process may have deleted the workspace."""
        with self._lock:
            if self._descriptor is None or self._revoked:
                return
            self._revoked = not self._shelf.holds(self.session_id, self._descriptor)
        if self._revoked and self._on_delete is not None:
            try:
                self._on_delete()
            except Exception:
                _log.exception("what runs in a deleted workspace could not be terminated")

    def _take(self) -> bool:
        """Whether no other process has the workspace; then this one does."""
        descriptor = self._shelf.claim(self.session_id)
        if descriptor is None:
            return False
        self._descriptor = descriptor
        self._directory = self._workspaces.directory_of(self.session_id)
        self._workspaces.leases.add(self)
        self._keeper.start()
        return True

    def _leave(self) -> None:
        with self._lock:
            descriptor, self._descriptor = self._descriptor, None
            if descriptor is not None:
                os.utime(descriptor)  # the last use is now
                os.close(descriptor)
        if self._directory is not None:
            self._directory.close()
            self._directory = None
        self._workspaces.leases.discard(self)
        if self._revoked:
            self._keeper.sweep_soon()
        place, self._place = self._place, None
        if place is not None:
            self._workspaces.line.leave(self.session_id, place)


class Leases:
    """Those that are held in this process."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._held: set[Lease] = set()

    def add(self, lease: Lease) -> None:
        with self._lock:
            self._held.add(lease)

    def discard(self, lease: Lease) -> None:
        with self._lock:
            self._held.discard(lease)

    def look_after(self) -> bool:
        """Tells those whose workspace was deleted, here or elsewhere; whether there are any left."""
        with self._lock:
            held = list(self._held)
        for lease in held:
            lease.revoke_if_deleted()
        return bool(held)
