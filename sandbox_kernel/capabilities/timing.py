"""`timers()`: setTimeout and its family, over one function that waits."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from math import isfinite

from ..loans import Loan
from .checks import whole
from .scripts import described, script

_EXPORTS = ("setTimeout", "clearTimeout", "setInterval", "clearInterval", "sleep")
_LONGEST_MS = 2**31 - 1


def timers(limit: int = 1000) -> Timers:
    """Lends setTimeout, clearTimeout, setInterval, clearInterval and sleep.

    `limit` is how many timers may be pending at once. A pending timer does not keep a run alive that
    has its result.
    """
    return Timers(whole("limit", limit, least=1))


@dataclass(frozen=True, slots=True)
class Timers:
    """What `timers()` returns."""

    limit: int
    name = "timers"

    def loan(self, name: str) -> Loan:
        return Loan(
            script("timers"),
            {"wait": _Alarm().wait, "limit": self.limit},
            {"": (*_EXPORTS, "default"), "/promises": ("setTimeout", "default")},
            free=_EXPORTS,
        )

    def describe(self, name: str | None = None) -> str:
        return described("timers", self.name, name)


class _Alarm:
    """Of one run: only the last that was set rings, earlier ones are answered at once."""

    def __init__(self) -> None:
        self._set: asyncio.Future[None] | None = None

    async def wait(self, milliseconds: float) -> None:
        """Answers after that time, or at once if there is none to wait."""
        if isinstance(milliseconds, bool) or not isinstance(milliseconds, int | float):
            raise TypeError("milliseconds must be a number")
        _ring(self._set)
        if not isfinite(milliseconds) or milliseconds <= 0:
            return
        loop = asyncio.get_running_loop()
        self._set = rings = loop.create_future()
        clock = loop.call_later(min(milliseconds, _LONGEST_MS) / 1000, _ring, rings)
        try:
            await rings
        finally:
            clock.cancel()


def _ring(alarm: asyncio.Future[None] | None) -> None:
    if alarm is not None and not alarm.done():
        alarm.set_result(None)
