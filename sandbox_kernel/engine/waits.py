"""How long runs may wait in the queue: whoever has waited too long is told to go."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from ..clock import Alarm, clock
from .taker import Taker


class Waits:
    """Holds no lock: its pool does. `on_end` is called on the clock's thread."""

    def __init__(self, on_end: Callable[[Taker, float], None]) -> None:
        self._on_end = on_end
        self._alarms: dict[Taker, Alarm] = {}

    def begin(self, taker: Taker, seconds: float) -> None:
        """It may wait for so long; 0 stands for as long as it takes."""
        if seconds:
            self._alarms[taker] = clock.after(seconds, partial(self._on_end, taker, seconds))

    def end(self, taker: Taker) -> bool:
        """It waits no longer; whether its wait was bounded, and not over yet."""
        alarm = self._alarms.pop(taker, None)
        if alarm is not None:
            alarm.cancel()
        return alarm is not None

    def clear(self) -> None:
        for alarm in self._alarms.values():
            alarm.cancel()
        self._alarms.clear()
