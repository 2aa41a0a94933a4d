"""Delayed calls that do not depend on the notebook's loop, which a bridge may block.

One thread makes all of them; the first call starts it. Most cells end within milliseconds, and a
thread for each would take as long as the cell does.
"""

from __future__ import annotations

import heapq
import logging
import os
import threading
import time
from collections.abc import Callable
from itertools import count

_log = logging.getLogger(__name__)


class Alarm:
    """A call that is made when it is due, unless it is cancelled before."""

    def __init__(self, seconds: float, call: Callable[[], object]) -> None:
        self.due = time.monotonic() + seconds
        self.call: Callable[[], object] | None = call

    def cancel(self) -> None:
        """Callable from any thread. A call that has begun continues."""
        self.call = None


class Clock:
    """Makes the calls of its alarms, in a thread of its own."""

    def __init__(self) -> None:
        self.forget()

    def forget(self) -> None:
        """Starts over without alarms: a forked process does not have its parent's threads."""
        self._alarms: list[tuple[float, int, Alarm]] = []
        self._order = count()
        self._changed = threading.Condition()
        self._thread: threading.Thread | None = None

    def after(self, seconds: float, call: Callable[[], object]) -> Alarm:
        """Makes `call` after `seconds`. It must be short: other alarms wait for it."""
        alarm = Alarm(seconds, call)
        with self._changed:
            heapq.heappush(self._alarms, (alarm.due, next(self._order), alarm))
            if self._thread is None:
                self._thread = threading.Thread(target=self._run, name="clock", daemon=True)
                self._thread.start()
            elif self._alarms[0][2] is alarm:
                self._changed.notify()
        return alarm

    def _run(self) -> None:
        while True:
            call = self._next().call
            try:
                if call is not None:
                    call()
            except Exception:  # the other alarms are still wanted
                _log.exception("a delayed call failed")

    def _next(self) -> Alarm:
        """Sleeps until an alarm is due."""
        with self._changed:
            while True:
                pause = self._alarms[0][0] - time.monotonic() if self._alarms else None
                if pause is not None and pause <= 0:
                    return heapq.heappop(self._alarms)[2]
                self._changed.wait(pause)


clock = Clock()
os.register_at_fork(after_in_child=clock.forget)
