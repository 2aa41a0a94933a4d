"""The zygotes of one pool: the one that forks, and earlier ones whose programs still run.

Programs of one zygote have the layout of their memory in common, so another takes over now and then.
"""

from __future__ import annotations

import threading

from ..errors import EngineError
from .binaries import find_binary
from .levels import start_zygote, try_levels
from .place import Place
from .protocol import Grants, Kind, Limits, Packages
from .settings import Settings
from .zygote import ZygoteProcess

PLACES_PER_ZYGOTE = 1_000
_ATTEMPTS = 3
_NOTHING = Grants()


class Zygotes:
    """Places are opened by threads of the pool; the rest is called under the pool's lock."""

    def __init__(
        self,
        runtime: str,
        workspaces: str | None = None,
        packages: Packages | None = None,
        grants: Grants = _NOTHING,
        installs: str | None = None,
    ) -> None:
        self._runtime = runtime
        self._workspaces = workspaces
        self._packages = packages
        self._grants = grants
        self._installs = installs
        self.level: str | None = None
        self.refused: dict[str, str] = {}
        self.current: ZygoteProcess | None = None
        self.is_failing = False  # nobody who does not wait for a place asks for one then
        self._earlier: list[ZygoteProcess] = []
        self.was_opened = False  # or could not be
        self._lock = threading.Lock()
        self._opening = threading.Lock()  # one place at a time

    def pids(self) -> tuple[int, ...]:
        held = [*self._earlier, *([self.current] if self.current else [])]
        return tuple(zygote.pid for zygote in held)

    def open_place(
        self,
        settings: Settings,
        limits: Limits,
        session: str | None = None,
        installed: str | None = None,
    ) -> tuple[Place, ZygoteProcess]:
        """From a zygote that works; EngineError if there is none."""
        with self._opening:
            try:
                return self._open_or_start(settings, limits, session, installed)
            finally:
                self.was_opened = True

    def _open_or_start(
        self, settings: Settings, limits: Limits, session: str | None, installed: str | None
    ) -> tuple[Place, ZygoteProcess]:
        problem: Exception | None = None
        for _ in range(_ATTEMPTS):
            try:
                opened = self._open(settings, limits, session, installed)
            except OSError as error:  # it is gone, or we have no descriptors
                problem = error
                self.retire()
                continue
            except EngineError as error:
                if self._packages is not None and self._packages.modules:
                    problem = error  # one that starts threads, or crashes, is lent all the same
                    self._packages = self._packages._replace(modules=())
                    continue
                self.is_failing = True
                raise
            self.is_failing = False
            return opened
        self.is_failing = True
        raise EngineError(f"no process for the program could be started: {problem}")

    def _open(
        self, settings: Settings, limits: Limits, session: str | None, installed: str | None
    ) -> tuple[Place, ZygoteProcess]:
        if self.current is not None and self.current.places >= PLACES_PER_ZYGOTE:
            self.retire()
        zygote = self.current
        if zygote is None and self.level is None:
            tried = try_levels(settings, limits, self._kind(settings), session, installed)
            self.level, self.refused = tried.zygote.level, tried.refused
            self.current = tried.zygote
            return tried.place, tried.zygote
        if zygote is None:
            assert self.level is not None
            zygote = self.current = start_zygote(settings, self.level, self._kind(settings))
        return zygote.open_place(limits, session, installed), zygote

    def _kind(self, settings: Settings) -> Kind:
        """EngineError if its runtime is not there."""
        binary = find_binary(self._runtime, settings)
        parts = (self._workspaces, self._packages, self._grants, self._installs)
        return Kind(binary, *parts)

    def retire(self) -> None:
        """It forks no more, and ends with its last program."""
        with self._lock:
            if self.current is not None:
                self._earlier.append(self.current)
            self.current = None

    def forget_level(self) -> None:
        self.level = None

    def idle(self, used: set[ZygoteProcess]) -> ZygoteProcess | None:
        """An earlier one that nobody uses any more."""
        return next((zygote for zygote in self._earlier if zygote not in used), None)

    def end(self, zygote: ZygoteProcess) -> None:
        """If it is one of these."""
        if zygote in self._earlier:
            zygote.close()
            with self._lock:
                self._earlier.remove(zygote)

    def close(self) -> None:
        self.retire()
        for zygote in list(self._earlier):
            self.end(zygote)

    def forget(self) -> None:
        """In a fork of the host: they are the parent's."""
        self._lock, self._opening = threading.Lock(), threading.Lock()
        self.current = None
        self._earlier.clear()
