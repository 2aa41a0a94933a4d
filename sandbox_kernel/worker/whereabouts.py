"""Tells the host now and then which line runs, so that a run that is ended there can say so."""

from __future__ import annotations

from time import monotonic

from ..wire import messages
from .channel import Channel
from .findings import Findings
from .positions import Position
from .quickjs import Context

_INTERVAL = 0.05  # seconds of computing between two messages
_LONGEST_NAME = 4_000  # bytes
_MOST_KNOWN = 20  # frames that were looked up, which takes a while


class Whereabouts:
    """Called while bytecode runs. It runs none of the guest's code, and little else."""

    def __init__(self, js: Context, channel: Channel, findings: Findings) -> None:
        self._js = js
        self._channel = channel
        self._findings = findings
        self._due = 0.0
        self._is_told = False
        self._known: dict[str, Position | None] = {}

    def tell_if_late(self) -> None:
        now = monotonic()
        if now < self._due:
            return
        is_first, self._due = not self._due, now + _INTERVAL
        if not is_first:  # most runs are over by then
            self._tell()

    def _tell(self) -> None:
        frames = self._js.frames()
        if frames not in self._known and len(self._known) < _MOST_KNOWN:
            self._known[frames] = self._findings.runs_at(frames)
        place = self._known.get(frames)
        if place is None:
            self.leave()
            return
        name = place.filename.encode("utf-8", "surrogatepass")
        if len(name) <= _LONGEST_NAME:
            self._channel.post(messages.AT, place.line, place.column, name)
            self._channel.flush()
            self._is_told = True

    def leave(self) -> None:
        """The guest has stopped computing and waits, or it is not known what it computes."""
        if self._is_told:
            self._channel.post(messages.AT)
            self._is_told = False
