"""The states of a conversation with a worker, all of them here: what may follow what, and what a
worker may say in each. A stop may be asked for in any state, so it is not a state of its own.
"""

from __future__ import annotations

import threading
from enum import Enum

from ..wire import messages


class State(Enum):
    """`FINISHING`: the result is in; sinks of reports, or first steps of calls, are awaited yet."""

    QUEUED = "queued"
    ATTACHED = "attached"
    RUNNING = "running"
    FINISHING = "finishing"
    ENDED = "ended"

    __hash__ = object.__hash__  # each is looked up in every run; by name takes longer


_NEXT: dict[State, frozenset[State]] = {
    State.QUEUED: frozenset((State.ATTACHED, State.ENDED)),
    State.ATTACHED: frozenset((State.QUEUED, State.RUNNING, State.ENDED)),  # its worker was dead
    State.RUNNING: frozenset((State.QUEUED, State.FINISHING, State.ENDED)),  # or lost in silence
    State.FINISHING: frozenset((State.ENDED,)),
    State.ENDED: frozenset(),
}

MAY_SAY: dict[State, frozenset[int]] = {
    State.QUEUED: frozenset(),
    State.ATTACHED: frozenset((messages.READY,)),
    State.RUNNING: frozenset(
        (
            *(messages.SAID, messages.REPORT, messages.LOG, messages.CALL, messages.CALLS),
            *(messages.GUEST_RETURN, messages.GUEST_THROW, messages.RESOLVED, messages.REJECTED),
            *(
                messages.RELEASED,
                messages.AT,
                messages.SITE,
                messages.OPENED,
                messages.FINISHED,
                messages.FAILED,
            ),
        )
    ),
    State.FINISHING: frozenset(),
    State.ENDED: frozenset(),
}


class Lifecycle:
    """The state of one conversation; it may be stopped and ended from any thread."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self.state = State.QUEUED
        self.ended = False  # asked before and after every message, so it is not a property
        self.stopping = False
        self.reason: str | None = None

    def move(self, to: State) -> bool:
        """False if it has ended, which may happen at any time; any other wrong step is a bug."""
        with self._lock:
            if self.ended:
                return False
            if to not in _NEXT[self.state]:
                raise RuntimeError(f"a conversation cannot go from {self.state} to {to}")
            self.state, self.ended = to, to is State.ENDED
            return True

    def stop(self, reason: str | None) -> bool:
        """Whether this is the first request, and not too late."""
        with self._lock:
            if self.stopping or self.ended:
                return False
            self.stopping, self.reason = True, reason
            return True
