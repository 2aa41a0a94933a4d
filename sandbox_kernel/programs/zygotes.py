"""The zygotes of one pool: the one that forks, and earlier ones whose programs still run.

Programs of one zygote have the layout of their memory in common, so another takes over now and then.
"""

from __future__ import annotations

import threading

from ..errors import EngineError
from .levels import start_zygote, try_levels
from .node import find_node
from .place import Place
from .protocol import Kind, Limits
from .runtimes import NODE
from .settings import Settings
from .zygote import ZygoteProcess

PLACES_PER_ZYGOTE = 1_000
_ATTEMPTS = 3


class Zygotes:
    """Places are opened by the pool's thread; the rest is called under the pool's lock."""

    def __init__(self, runtime: str, workspaces: str | None = None) -> None:
        self._runtime = runtime
        self._workspaces = workspaces
        self.level: str | None = None
        self.refused: dict[str, str] = {}
        self.current: ZygoteProcess | None = None
        self.is_failing = False  # nobody who does not wait for a place asks for one then
        self._earlier: list[ZygoteProcess] = []
        self._lock = threading.Lock()

    def pids(self) -> tuple[int, ...]:
        held = [*self._earlier, *([self.current] if self.current else [])]
        return tuple(zygote.pid for zygote in held)

    def open_place(
        self, settings: Settings, limits: Limits, session: str | None = None
    ) -> tuple[Place, ZygoteProcess]:
        """From a zygote that works; EngineError if there is none."""
        problem: Exception | None = None
        for _ in range(_ATTEMPTS):
            try:
                opened = self._open(settings, limits, session)
            except OSError as error:  # it is gone, or we have no descriptors
                problem = error
                self.retire()
                continue
            except EngineError:
                self.is_failing = True
                raise
            self.is_failing = False
            return opened
        self.is_failing = True
        raise EngineError(f"no process for the program could be started: {problem}")

    def _open(
        self, settings: Settings, limits: Limits, session: str | None
    ) -> tuple[Place, ZygoteProcess]:
        if self.current is not None and self.current.places >= PLACES_PER_ZYGOTE:
            self.retire()
        zygote = self.current
        if zygote is None and self.level is None:
            tried = try_levels(settings, limits, self._kind(settings), session)
            self.level, self.refused = tried.zygote.level, tried.refused
            self.current = tried.zygote
            return tried.place, tried.zygote
        if zygote is None:
            assert self.level is not None
            zygote = self.current = start_zygote(settings, self.level, self._kind(settings))
        return zygote.open_place(limits, session), zygote

    def _kind(self, settings: Settings) -> Kind:
        """EngineError if there is no Node and it takes one."""
        node = find_node(settings.node) if self._runtime == NODE else None
        return Kind(node, self._workspaces)

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
        self._lock = threading.Lock()
        self.current = None
        self._earlier.clear()
