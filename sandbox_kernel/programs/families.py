"""Zygotes for each kind of program: by its runtime, and by where its workspaces are.

Most programs are Python's and have no workspace.
"""

from __future__ import annotations

from .place import Place
from .protocol import Limits
from .runtimes import PYTHON
from .settings import Settings
from .zygote import ZygoteProcess
from .zygotes import Zygotes

Key = tuple[str, str | None]  # a runtime, and the root of workspaces
_COMMON: Key = (PYTHON, None)
_MOST = 6  # kinds that are kept


class Families:
    """As `Zygotes`, for all kinds together; the level is that of the common one."""

    def __init__(self) -> None:
        self._of: dict[Key, Zygotes] = {_COMMON: Zygotes(*_COMMON)}
        self._gone: list[Zygotes] = []  # whose programs may still run

    @property
    def level(self) -> str | None:
        return self._of[_COMMON].level

    @property
    def refused(self) -> dict[str, str]:
        return self._of[_COMMON].refused

    def is_failing(self, runtime: str) -> bool:
        """Whether places without a workspace are refused; nobody asks for them in advance then."""
        zygotes = self._of.get((runtime, None))
        return zygotes is not None and zygotes.is_failing

    def pids(self) -> tuple[int, ...]:
        return tuple(pid for zygotes in self._all() for pid in zygotes.pids())

    def open_place(
        self, settings: Settings, limits: Limits, key: Key = _COMMON, session: str | None = None
    ) -> tuple[Place, ZygoteProcess]:
        """By one thread only."""
        zygotes = self._of.pop(key, None) or Zygotes(*key)
        self._of[key] = zygotes  # as the one that was used last
        if len(self._of) > _MOST:
            self._let_go_of_one()
        return zygotes.open_place(settings, limits, session)

    def _let_go_of_one(self) -> None:
        oldest = next(key for key in self._of if key != _COMMON)
        zygotes = self._of.pop(oldest)
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
        self._gone = [zygotes for zygotes in self._gone if zygotes.pids()]

    def close(self) -> None:
        for zygotes in self._all():
            zygotes.close()

    def forget(self) -> None:
        for zygotes in self._all():
            zygotes.forget()

    def _all(self) -> list[Zygotes]:
        return [*self._of.values(), *self._gone]
