"""Promises that were rejected and that nobody has handled yet."""

from __future__ import annotations

from .quickjs import Context, Value


class Rejections:
    """What is left here when the guest waits or ends was not handled in time."""

    def __init__(self, js: Context) -> None:
        self._js = js
        self._reasons: dict[int, tuple[Value, Value]] = {}
        self._awaited = 0

    def note(self, promise: Value, reason: Value, handled: bool) -> None:
        """Called by the engine when a promise is rejected unhandled, or handled later."""
        if handled:
            self.forget(promise)
        elif promise.bits != self._awaited:
            self._reasons[promise.bits] = (self._js.keep(promise), self._js.keep(reason))

    def forget(self, promise: Value) -> None:
        """It is handled by us."""
        self._reasons.pop(promise.bits, None)

    def expect(self, promise: Value) -> None:
        """The run waits for it, whose rejection is the run's failure."""
        self._awaited = promise.bits
        self.forget(promise)

    def take(self) -> list[Value]:
        """The reasons of those left, which are forgotten."""
        reasons, self._reasons = self._reasons, {}
        return [reason for _, reason in reasons.values()]
