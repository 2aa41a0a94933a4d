"""Delayed calls that do not depend on an event loop, which a bridge may block.

One thread makes all of them; the first call starts it. Most runs end within milliseconds, and a
thread for each would take as long as the run does.
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
_MANY = 1000  # alarms, from which on cancelled ones are looked for
_SHORTEST_CHECK = 0.02  # seconds between two looks at a pause
Spent = Callable[[], "float | None"]
_LONGEST_SLEEP = 3600.0  # seconds; the system refuses to sleep for ages


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
        self._most = _MANY
        self._order = count()
        self._changed = threading.Condition()
        self._thread: threading.Thread | None = None

    def after(self, seconds: float, call: Callable[[], object]) -> Alarm:
        """Makes `call` after `seconds`. It must be short: other alarms wait for it."""
        alarm = Alarm(seconds, call)
        with self._changed:
            if len(self._alarms) >= self._most:
                self._drop_cancelled()
            heapq.heappush(self._alarms, (alarm.due, next(self._order), alarm))
            if self._thread is None:
                self._thread = threading.Thread(target=self._run, name="clock", daemon=True)
                self._thread.start()
            elif self._alarms[0][2] is alarm:
                self._changed.notify()
        return alarm

    def _drop_cancelled(self) -> None:
        """So that short runs with long deadlines do not pile up; seldom, so that it costs little."""
        self._alarms = [entry for entry in self._alarms if entry[2].call is not None]
        heapq.heapify(self._alarms)
        self._most = max(_MANY, 2 * len(self._alarms))

    def _run(self) -> None:
        while True:
            call = self._next().call
            try:
                if call is not None:
                    call()
            except Exception:  # the other alarms are still wanted
                _log.exception("a delayed call failed")
            del call  # or what it refers to would live until the next alarm

    def _next(self) -> Alarm:
        """Sleeps until an alarm is due."""
        with self._changed:
            while True:
                pause = self._alarms[0][0] - time.monotonic() if self._alarms else None
                if pause is not None and pause <= 0:
                    return heapq.heappop(self._alarms)[2]
                self._changed.wait(None if pause is None else min(pause, _LONGEST_SLEEP))


class Countdown:
    """A call that is made so long after a start that may be yet to come; meanwhile it may pause.

    In a pause it counts processor time instead. That never passes faster than other time, so that an
    alarm set for what is left is never late: if it rings too early, it is set again.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._started: float | None = None
        self._wanted: tuple[float, Callable[[], object]] | None = None
        self._alarm: Alarm | None = None
        self._excused = 0.0  # seconds of pauses that are over, less what was computed in them
        self._pause: tuple[float, float, Spent] | None = None

    def start(self, at: float) -> None:
        """`at` is what `perf_counter` said."""
        with self._lock:
            self._started = at
            self._set_alarm()

    def set(self, seconds: float, call: Callable[[], object]) -> None:
        """Replaces an earlier call, if there is one."""
        with self._lock:
            self._cancel()
            self._wanted = seconds, call
            self._set_alarm()

    def pause(self, spent: Spent) -> None:
        """`spent` gives processor seconds; where it cannot, time goes on as usual."""
        before = spent()
        with self._lock:
            if before is not None:
                self._pause = time.perf_counter(), before, spent

    def resume(self) -> None:
        with self._lock:
            self._excused += self._excused_now()
            self._pause = None

    def _excused_now(self) -> float:
        if self._pause is None:
            return 0.0
        since, before, spent = self._pause
        now = spent()
        return time.perf_counter() - since - max(0.0, (before if now is None else now) - before)

    def _set_alarm(self) -> None:
        if self._started is None or self._wanted is None:
            return
        seconds, call = self._wanted
        left = self._started + seconds + self._excused + self._excused_now() - time.perf_counter()
        if self._pause is not None and left > 0:
            left = max(left, _SHORTEST_CHECK)
        self._alarm = clock.after(left, self._ring if left > 0 else call)

    def _ring(self) -> None:
        with self._lock:
            self._set_alarm()

    def cancel(self) -> None:
        with self._lock:
            self._cancel()

    def _cancel(self) -> None:
        self._wanted = None
        if self._alarm is not None:
            self._alarm.cancel()
            self._alarm = None


clock = Clock()
os.register_at_fork(after_in_child=clock.forget)
