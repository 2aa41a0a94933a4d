"""Calls that come later, whatever the notebook's loop is doing: a bridge may block it.

One thread for all of them, started with the first, since most cells are over in milliseconds and
a thread for each would take as long as they do.
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
    """A call that is due at a time; cancelled, it is not made."""

    def __init__(self, seconds: float, call: Callable[[], object]) -> None:
        self.due = time.monotonic() + seconds
        self.call: Callable[[], object] | None = call

    def cancel(self) -> None:
        """From any thread. A call that has begun goes on."""
        self.call = None


class Clock:
    """Makes the calls of its alarms, in a thread of its own."""

    def __init__(self) -> None:
        self.forget()

    def forget(self) -> None:
        """Start anew, without alarms; a forked process has none of its parent's threads."""
        self._alarms: list[tuple[float, int, Alarm]] = []
        self._order = count()
        self._changed = threading.Condition()
        self._thread: threading.Thread | None = None

    def after(self, seconds: float, call: Callable[[], object]) -> Alarm:
        """Make this call in so many seconds. It must be short: other alarms wait for it."""
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
                _log.exception("a call that was due failed")

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
