"""Looks after workspaces in the background: evicts, removes, and notices what others delete."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable

from .shelf import Shelf

_log = logging.getLogger("sandbox_kernel")
_WATCH = 0.25  # seconds between two looks at the leases that are held
_EVICT = 60.0  # seconds between two evictions, or the time to live if that is shorter


class Keeper:
    """A daemon thread, from the first use on. It ends when it is told to."""

    def __init__(
        self, shelf: Shelf, ttl_seconds: float, look_after_leases: Callable[[], bool]
    ) -> None:
        """`look_after_leases` says whether there are any."""
        self._shelf = shelf
        self._interval = min(ttl_seconds, _EVICT)
        self._look_after_leases = look_after_leases
        self._lock = threading.Lock()
        self._thread: threading.Thread | None = None
        self._wake = threading.Event()
        self._stopped = False
        self._sweep = True  # the first time, for what an earlier process left
        self._next_eviction = 0.0

    def start(self) -> None:
        with self._lock:
            if self._thread is None and not self._stopped:
                self._thread = threading.Thread(target=self._run, name="workspaces", daemon=True)
                self._thread.start()
            self._wake.set()

    def sweep_soon(self) -> None:
        self._sweep = True
        self.start()

    def stop(self) -> None:
        """Waits for what it is doing, so that nothing is left half removed."""
        self._stopped = True
        self._wake.set()
        if self._thread not in (None, threading.current_thread()):
            self._thread.join()

    def _run(self) -> None:
        while not self._stopped:
            try:
                pause = self._round()
            except OSError as error:  # a full disk, no descriptors: the next round may do better
                _log.warning("workspaces could not be looked after: %s", error)
                pause = _EVICT
            self._wake.wait(pause)
            self._wake.clear()

    def _round(self) -> float:
        """Seconds until the next one."""
        if time.monotonic() >= self._next_eviction:
            self._next_eviction = time.monotonic() + self._interval
            self._sweep |= bool(self._shelf.put_away_expired())
        busy = self._look_after_leases()
        if self._sweep:
            self._sweep = False
            self._shelf.sweep()
        return _WATCH if busy else self._interval
