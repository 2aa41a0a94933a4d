"""The worker's end of the socket: blocking, and messages are gathered into few writes."""

from __future__ import annotations

import os
import socket
from collections.abc import Sequence
from time import monotonic
from typing import Any, Protocol

from ..isolation import rlimits
from ..wire import messages
from ..wire.frame import Buffer, Frame, FrameReader, pack

_GATHER_BYTES = 1 << 16
GATHER_SECONDS = 0.004  # how long a message may wait while the guest computes
# Poll for this long before blocking: being woken up takes longer than another poll.
_POLL_SECONDS = 400e-6 if (os.cpu_count() or 1) > 1 else 0.0
_UNCAPPED = (1 << 32) - 1  # the worker trusts its host


class Connection(Protocol):
    """The methods of a socket that the channel uses."""

    def recv_into(self, room: memoryview, count: int, flags: int, /) -> int: ...
    def sendall(self, data: Any, /) -> None: ...


class Channel:
    """Sends messages in the order in which they are posted, at the latest on `flush`.

    Made in the zygote, so that a worker need not allocate its buffers.
    """

    _socket: Connection

    def __init__(self) -> None:
        self._reader = FrameReader(_UNCAPPED)
        self._arrived: list[Frame] = []
        self._gathered: list[Buffer] = []
        self._gathered_bytes = 0
        self._attached = False
        self._flushed_at = 0.0
        self._host_is_quick = True

    def connect(self, connection: Connection) -> None:
        self._socket = connection

    def post(
        self, kind: int, a: int = 0, b: int = 0, text: bytes = b"", attachments: Sequence[Any] = ()
    ) -> None:
        """Queues a message. One with attachments is sent now: they point into the realm's memory."""
        self._gathered += pack(kind, a, b, text, attachments)
        self._gathered_bytes += len(text) + 20
        self._attached = bool(attachments)
        if attachments or self._gathered_bytes > _GATHER_BYTES:
            self.flush()
        else:
            self.flush_if_late()

    def flush_if_late(self) -> None:
        """Called while the guest computes, so that its messages do not wait for it."""
        if self._gathered and monotonic() - self._flushed_at > GATHER_SECONDS:
            self.flush()

    def flush(self) -> None:
        if not self._gathered:
            return
        gathered, self._gathered = self._gathered, []
        if self._gathered_bytes <= _GATHER_BYTES and not self._attached:
            self._gathered_bytes = 0
            self._send(b"".join(gathered))
            self._flushed_at = monotonic()
            return
        self._gathered_bytes, self._attached = 0, False
        small: list[Buffer] = []
        for item in gathered:
            if len(item) < _GATHER_BYTES:
                small.append(item)
                continue
            self._send(b"".join(small))
            small = []
            self._send(item)
        self._send(b"".join(small))
        self._flushed_at = monotonic()

    def _send(self, data: Any) -> None:
        if len(data):
            try:
                self._socket.sendall(data)
            except OSError:
                os._exit(0)  # the host is gone

    def has_more(self) -> bool:
        """Whether another message arrived together with the last one."""
        return bool(self._arrived)

    def receive_order(self) -> Frame:
        """The order; before it may come WAKE, which is skipped, and LIMIT, which is obeyed."""
        frame = self.receive()
        while frame.kind != messages.RUN:
            if frame.kind == messages.LIMIT:
                _limit_memory(frame.a * 1024)
            frame = self.receive_answer()
        return frame

    def receive_answer(self) -> Frame:
        """The next message, which the host is about to send."""
        asked_at = monotonic()
        self.flush()
        while self._host_is_quick and not self._arrived and monotonic() < asked_at + _POLL_SECONDS:
            self._receive_some(socket.MSG_DONTWAIT)
        frame = self.receive()
        self._host_is_quick = monotonic() < asked_at + _POLL_SECONDS
        return frame

    def receive(self) -> Frame:
        """Blocks until the next message of the host."""
        self.flush()
        while not self._arrived:
            self._receive_some(0)
        return self._arrived.pop()

    def _receive_some(self, flags: int) -> None:
        try:
            count = self._socket.recv_into(self._reader.room(), 0, flags)
        except BlockingIOError:
            return
        except OSError:
            count = 0
        if not count:
            os._exit(0)
        self._arrived = list(self._reader.feed(count))
        self._arrived.reverse()

    def unread(self, frames: list[Frame]) -> None:
        """Puts messages back, to be received next."""
        self._arrived += reversed(frames)


def _limit_memory(size: int) -> None:
    """Or ends this worker, which then never sees what it would have executed."""
    try:
        rlimits.address_space(size)
    except (OSError, ValueError):
        os._exit(messages.EXIT_UNLIMITED)
