"""The newest calls of lent functions as rows of the view: they change until they have ended."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any

from ...calls import UNFINISHED, Call
from ...clean import clean_line, clean_name

NEWEST = 200
_PAUSE = 0.5  # seconds between two drawings during a run


class CallRows:
    """Says when there is something new to draw, and draws it."""

    def __init__(self) -> None:
        self._drawn_at = 0.0
        self._seen: tuple[int, int] = (0, 0)

    def are_due(self, calls: Sequence[Call]) -> bool:
        now = time.monotonic()
        if now - self._drawn_at < _PAUSE:
            return False
        newest = calls[-NEWEST:]
        state = len(calls), sum(call.outcome == UNFINISHED for call in newest)
        if state == self._seen:
            return False
        self._drawn_at, self._seen = now, state
        return True

    def drawn(self, calls: Sequence[Call]) -> dict[str, Any]:
        newest = list(calls[-NEWEST:])
        first = len(calls) - len(newest)
        return {
            "until": len(calls),
            "items": [[first + at, _row(c)] for at, c in enumerate(newest)],
        }


def _row(call: Call) -> list[Any]:
    """Name, arguments, decision, milliseconds, bytes, outcome."""
    texts = clean_name(call.name[:200]), clean_line(call.shown), call.decision
    return [*texts, round(call.duration_ms, 1), call.bytes, call.outcome]
