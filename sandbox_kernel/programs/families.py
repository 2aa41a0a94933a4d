"""Zygotes for each kind of program: by its runtime, by where its workspaces are, and what it alone may use.

Most programs are Python's and have no workspace.
"""

from __future__ import annotations

import threading
from typing import NamedTuple

from .place import Place
from .protocol import Grants, Limits, Packages
from .runtimes import PYTHON
from .settings import Settings
from .zygote import ZygoteProcess
from .zygotes import Zygotes

_MOST = 6  # kinds that are kept
_MOST_SETS = 2  # of packages, which are large


class Key(NamedTuple):
    """What programs of one kind have in common."""

    runtime: str
    workspaces: str | None = None  # the root of them
    packages: Packages | None = None
    grants: Grants = Grants()
    installs: str | None = None  # the root of what they install


_COMMON = Key(PYTHON)


class Families:
    """As `Zygotes`, for all kinds together; the level is that of the common one."""

    def __init__(self) -> None:
        self._of: dict[Key, Zygotes] = {_COMMON: Zygotes(*_COMMON)}
        self._gone: list[Zygotes] = []  # whose programs may still run
        self._lock = threading.Lock()

    @property
    def level(self) -> str | None:
        return self._of[_COMMON].level

    @property
    def refused(self) -> dict[str, str]:
        return self._of[_COMMON].refused

    def is_failing(self, runtime: str) -> bool:
        """Whether places without a workspace are refused; nobody asks for them in advance then."""
        zygotes = self._of.get(Key(runtime))
        return zygotes is not None and zygotes.is_failing

    def pids(self) -> tuple[int, ...]:
        return tuple(pid for zygotes in self._all() for pid in zygotes.pids())

    def open_place(
        self,
        settings: Settings,
        limits: Limits,
        key: Key = _COMMON,
        session: str | None = None,
        installed: str | None = None,
    ) -> tuple[Place, ZygoteProcess]:
        """May take a while, and holds up only those who want one of the same kind."""
        with self._lock:
            zygotes = self._for_itself(key) if key.grants else self._kept(key)
        opened = zygotes.open_place(settings, limits, session, installed)
        if key.grants:
            zygotes.retire()
        return opened

    def is_ready(self, key: Key) -> bool:
        """Whether a zygote of this kind has only to fork."""
        with self._lock:
            zygotes = self._of.get(key)
        return zygotes is not None and zygotes.current is not None

    def _for_itself(self, key: Key) -> Zygotes:
        """What is allowed to one program is for that one alone."""
        zygotes = Zygotes(*key)
        zygotes.level = self.level  # a weaker one must not do because of what is lent
        self._gone.append(zygotes)
        return zygotes

    def _kept(self, key: Key) -> Zygotes:
        zygotes = self._of.pop(key, None) or Zygotes(*key)
        self._of[key] = zygotes  # as the one that was used last
        if len(self._of) > _MOST:
            self._let_go_of(next(key for key in self._of if key != _COMMON))
        sets = dict.fromkeys(key.packages for key in reversed(self._of) if key.packages)
        for key in [each for each in self._of if each.packages in list(sets)[_MOST_SETS:]]:
            self._let_go_of(key)
        return zygotes

    def _let_go_of(self, key: Key) -> None:
        zygotes = self._of.pop(key)
        zygotes.retire()
        self._gone.append(zygotes)

    def distrust(self, zygote: ZygoteProcess) -> bool:
        """It forks no more; whether it still did."""
        for zygotes in self._all():
            if zygotes.current is zygote:
                zygotes.retire()
                return True
        return False

    def retire(self) -> None:
        for zygotes in self._all():
            zygotes.retire()
            zygotes.forget_level()

    def idle(self, used: set[ZygoteProcess]) -> ZygoteProcess | None:
        found = (zygotes.idle(used) for zygotes in self._all())
        return next((zygote for zygote in found if zygote is not None), None)

    def end(self, zygote: ZygoteProcess) -> None:
        for zygotes in self._all():
            zygotes.end(zygote)
        with self._lock:
            self._gone = [each for each in self._gone if each.pids() or not each.was_opened]

    def close(self) -> None:
        for zygotes in self._all():
            zygotes.close()

    def forget(self) -> None:
        self._lock = threading.Lock()
        for zygotes in self._all():
            zygotes.forget()

    def _all(self) -> list[Zygotes]:
        with self._lock:
            return [*self._of.values(), *self._gone]
