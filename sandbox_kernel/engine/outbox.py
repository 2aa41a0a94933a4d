"""What is on its way to a worker. Never blocks the loop; what the socket does not take is kept."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Callable

from ..loops import on_loop
from ..wire import messages
from ..wire.frame import Buffer, pack

# Answers that leave as one frame are in the guest's heap all at once: few are, and none is large.
_MOST_ANSWERS, _MOST_BYTES, _LARGE = 1024, 1 << 16, 1 << 12


class Outbox:
    """Frames leave in order; those of one turn of the loop leave in one write."""

    def __init__(
        self,
        loop: asyncio.AbstractEventLoop,
        connection: socket.socket,
        cap: int,
        on_overflow: Callable[[], None],
    ) -> None:
        self._loop = loop
        self._socket = connection
        self._cap = cap
        self._on_overflow = on_overflow
        self._waiting: list[Buffer] = []
        self._answers: list[str] = []  # that come after those, to leave as one frame
        self._answers_size = 0
        self._waiting_bytes = 0  # of what waits behind `_rest`
        self._rest = memoryview(b"")  # what the socket did not take yet
        self._writing = False
        self._flush_scheduled = False
        self._closed = False
        self.largest = 0

    def post(self, frame: list[Buffer], *, now: bool = False) -> None:
        """Raises OSError only when `now`: otherwise whoever reads learns that the worker is dead."""
        if self._closed:
            return
        if now and not (self._waiting or self._answers or self._writing):
            self._send(memoryview(b"".join(frame)))
            return
        if self._answers:
            self._gather_answers()
        self._wait_with(frame)
        if now and not self._writing:
            self._flush()
        else:
            self._flush_soon()

    def post_answer(self, call: int, json: str) -> None:
        """The value of an asynchronous call; such answers cross many at a time."""
        if len(json) > _LARGE:
            self.post(pack(messages.RETURN, call, 0, f"P{json}".encode()))
            return
        if self._closed:
            return
        self._answers.append(f"{call},{json}")
        self._answers_size += len(json)
        if len(self._answers) == _MOST_ANSWERS or self._answers_size > _MOST_BYTES:
            self._gather_answers()
        self._flush_soon()

    def _gather_answers(self) -> None:
        text = f"P[{','.join(self._answers)}]".encode()
        self._answers, self._answers_size = [], 0
        self._wait_with(pack(messages.RETURNS, 0, 0, text))

    def _wait_with(self, frame: list[Buffer]) -> None:
        self._waiting += frame
        if self._writing:
            self._queue_up(frame)

    def _flush_soon(self) -> None:
        if not self._flush_scheduled and not self._writing:
            self._flush_scheduled = True
            self._loop.call_soon(self._flush_quietly)

    def _queue_up(self, frame: list[Buffer]) -> None:
        """The guest asks faster than it listens."""
        self._waiting_bytes += sum(map(len, frame))
        if self._waiting_bytes > self._cap:
            self._on_overflow()

    def _flush_quietly(self) -> None:
        try:
            self._flush()
        except OSError:
            pass

    def _flush(self) -> None:
        self._flush_scheduled = False
        if self._closed or self._writing:
            return
        if self._answers:
            self._gather_answers()
        if not self._waiting:
            return
        waiting, self._waiting, self._waiting_bytes = self._waiting, [], 0
        self._send(memoryview(waiting[0] if len(waiting) == 1 else b"".join(waiting)))

    def _send(self, data: memoryview) -> None:
        self.largest = max(self.largest, len(data))
        try:
            sent = self._socket.send(data)
        except BlockingIOError:
            sent = 0
        self._rest = data[sent:]
        if len(self._rest) and not self._writing:
            self._writing = True
            on_loop(self._loop, self._wait_until_writable)

    def _wait_until_writable(self) -> None:
        if not self._closed:
            self._loop.add_writer(self._socket, self._on_writable)

    def _on_writable(self) -> None:
        if self._closed:
            return
        try:
            self._send(self._rest)
        except OSError:
            self._rest = memoryview(b"")
        if not len(self._rest):
            self._loop.remove_writer(self._socket)
            self._writing = False
            self._flush_quietly()

    def close(self) -> None:
        self._closed = True
        self._on_overflow = _nothing
        if self._writing and not self._loop.is_closed():
            self._loop.remove_writer(self._socket)


def _nothing() -> None:
    pass
