"""The zygotes of one engine, and when a new one takes over.

Workers of one zygote have all their addresses in common. What a guest learns of them, or guesses by
crashing, is of no use against the next zygote: so there is a new one after many forks, and after a
worker was ended by a signal that may come of an attack.
"""

from __future__ import annotations

import os
import signal
from collections.abc import Callable
from math import inf
from time import monotonic

from ..wire.control import Record
from .spawn import Spawned, spawn_zygote
from .zygote import ZygoteProcess

FORKS_PER_ZYGOTE = 1000
SECONDS_BETWEEN_RENEWALS = 5.0  # so that a guest that crashes does not keep the host busy
_CRASHES = {signal.SIGSEGV, signal.SIGBUS, signal.SIGILL, signal.SIGABRT, signal.SIGSYS}


def is_crash(record: Record) -> bool:
    return record.status & 0x7F in _CRASHES


class Zygotes:
    """One that forks, one that will once it is ready, and earlier ones whose workers still live.

    Not safe for threads: the pool holds its lock.
    """

    def __init__(self, listen_to: Callable[[Spawned], ZygoteProcess]) -> None:
        self._listen_to = listen_to
        self._spawned: Spawned | None = None  # that nobody listens to yet
        self._current: ZygoteProcess | None = None
        self._successor: ZygoteProcess | None = None
        self._earlier: set[ZygoteProcess] = set()
        self._is_due = False
        self._renewed_at = -inf

    @property
    def current(self) -> ZygoteProcess | None:
        return self._current

    def pids_of_others(self) -> tuple[int, ...]:
        others = [*self._earlier, *([self._successor] if self._successor else [])]
        return tuple(zygote.pid for zygote in others)

    def adopt(self, spawned: Spawned) -> bool:
        """Whether it will be used: not if there is one already."""
        if self._current is not None or self._spawned is not None:
            return False
        self._spawned = spawned
        return True

    def ready(self, cpu_seconds: int) -> ZygoteProcess:
        """The one to ask for workers. Raises OSError if none can be started."""
        if self._current is None:
            self._current, self._successor = self._successor, None
        if self._current is None:
            self._current = self._listen_to(self._take_spawned(cpu_seconds))
        return self._current

    def _take_spawned(self, cpu_seconds: int) -> Spawned:
        spawned, self._spawned = self._spawned, None
        if spawned is not None and spawned.cpu_seconds != cpu_seconds:
            self._listen_to(spawned).close()
            spawned = None
        return spawned or spawn_zygote(cpu_seconds)

    # -- renewal

    def crashed(self, zygote: ZygoteProcess) -> None:
        """A worker of it has."""
        if zygote is self._current:
            self._is_due = True

    def renew_if_due(self, cpu_seconds: int, spares: int) -> None:
        """Starts a successor that rehearses first, and then forks its spares."""
        current = self._current
        if current is None or self._successor is not None:
            return
        due = self._is_due or current.forks >= FORKS_PER_ZYGOTE
        if not due or monotonic() - self._renewed_at < SECONDS_BETWEEN_RENEWALS:
            return
        self._is_due, self._renewed_at = False, monotonic()
        self._successor = self._listen_to(spawn_zygote(cpu_seconds))
        for _ in range(max(1, spares)):
            self._successor.request_worker(rehearsed=True)

    def promote(self, zygote: ZygoteProcess) -> bool:
        """It has forked: if it is the successor, it takes over. Whether it does."""
        if zygote is not self._successor:
            return False
        self._successor, earlier, self._current = None, self._current, zygote
        if earlier is not None:
            self._earlier.add(earlier)
            earlier.retire()
        return True

    # -- ending

    def lost(self, zygote: ZygoteProcess) -> bool:
        """Forgets one that has ended; whether it was the one that forks."""
        self._earlier.discard(zygote)
        if zygote is self._successor:
            self._successor, self._is_due = None, True
        if zygote is not self._current:
            return False
        self._current = None
        return True

    def let_go(self, *, of_earlier: bool) -> list[ZygoteProcess]:
        """Those to be closed; earlier ones may still have runs."""
        if self._spawned is not None:
            spawned, self._spawned = self._spawned, None
            self._current = self._listen_to(spawned)
        gone = [each for each in (self._current, self._successor) if each is not None]
        self._current = self._successor = None
        if of_earlier:
            gone += self._earlier
            self._earlier.clear()
        return gone

    def forget(self) -> None:
        """In a fork of the host: they are the parent's."""
        spawned, self._spawned = self._spawned, None
        if spawned is not None:
            spawned.control.close()
            if spawned.pidfd is not None:
                os.close(spawned.pidfd)
        for zygote in self.let_go(of_earlier=True):
            zygote.forget()
