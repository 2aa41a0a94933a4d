"""Watch: has a loop call back whenever a socket is ready, for as long as that is wanted."""

from __future__ import annotations

import socket
from collections.abc import Callable
from typing import Any


class Watch:
    """`Watch(loop.add_writer, loop.remove_writer, self._drain)`; off at first."""

    def __init__(
        self,
        add: Callable[[int, Callable[[], None]], Any],
        remove: Callable[[int], Any],
        ready: Callable[[], None],
    ) -> None:
        self._add = add
        self._remove = remove
        self._ready = ready
        self._descriptor: int | None = None  # of what is watched

    @property
    def is_on(self) -> bool:
        return self._descriptor is not None

    def start(self, watched: socket.socket) -> None:
        """Idempotent."""
        if self._descriptor is None:
            self._descriptor = watched.fileno()
            self._add(self._descriptor, self._ready)

    def stop(self) -> None:
        """Idempotent. Before the socket is closed."""
        if self._descriptor is not None:
            self._remove(self._descriptor)
            self._descriptor = None
