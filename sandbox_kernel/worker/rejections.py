"""Rejected promises that have not been handled yet."""

from __future__ import annotations

from .quickjs import Context, Value


class Rejections:
    """Rejections that are still here when the guest waits or ends count as unhandled."""

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
        """The worker handles this promise itself."""
        forgotten = self._reasons.pop(promise.bits, None)
        if forgotten is not None:
            self._js.free(forgotten[0])
            self._js.free(forgotten[1])

    def expect(self, promise: Value) -> None:
        """The run awaits this promise; its rejection fails the run and is not reported here."""
        self._awaited = promise.bits
        self.forget(promise)

    def take(self) -> list[Value]:
        """Removes the remaining rejections and returns their reasons, which the caller then owns."""
        reasons, self._reasons = self._reasons, {}
        for promise, _ in reasons.values():
            self._js.free(promise)
        return [reason for _, reason in reasons.values()]
