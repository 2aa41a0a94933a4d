"""The host's end of a program's channel. Everything that comes from it is hostile input."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Callable
from contextlib import suppress
from typing import Any

from ..calls import Gate
from ..errors import ProtocolError
from ..wire.frame import Frame, FrameReader, pack
from .calls import Calls, Toolbox
from .feed import Feed
from .protocol import CALL, JOB, MESSAGE_BYTES, OUT_OF_MEMORY, RESULT, RESULT_BYTES

_MOST_UNREAD = 32 * 2**20  # bytes of answers that a program has not read


class Channel:
    """Opened when the program begins. `stop` ends the program, for the reason that it is given."""

    def __init__(
        self,
        toolbox: Toolbox | None,
        gate: Gate | None,
        loop: asyncio.AbstractEventLoop,
        stop: Callable[[str], None],
        on_asking: Callable[[bool], None],
    ) -> None:
        self.said: bytes | None = None  # by its last `set_result`
        self.out_of_memory = False
        self._loop = loop
        self._stop = stop
        self._reader = FrameReader(MESSAGE_BYTES)
        self._calls = (
            None if toolbox is None else Calls(*(toolbox, gate, loop, self._answer, on_asking))
        )
        self._socket: socket.socket | None = None
        self._feed: Feed | None = None

    @property
    def calls(self) -> list[dict[str, Any]]:
        """What is known of calls of tools."""
        return [] if self._calls is None else self._calls.log.to_json()

    def open(self, connection: socket.socket, job: bytes, source: bytes) -> None:
        """Sends the program."""
        self._socket = connection
        frame = b"".join(bytes(part) for part in pack(JOB, text=job, attachments=[source]))
        self._feed = Feed(self._loop, connection.fileno(), frame)
        self._loop.add_reader(connection.fileno(), self._on_readable, connection)

    def _on_readable(self, connection: socket.socket) -> None:
        """`recv_into` takes no descriptors; those that a program sends are dropped."""
        try:
            count = connection.recv_into(self._reader.room())
        except BlockingIOError:
            return
        except OSError:
            count = 0
        if not count:
            self._loop.remove_reader(connection.fileno())
            return
        try:
            for frame in self._reader.feed(count):
                self._heard(frame)
        except ProtocolError:
            self._loop.remove_reader(connection.fileno())
            self._stop("it sent an invalid message")

    def _heard(self, frame: Frame) -> None:
        text = bytes(frame.text)
        if frame.kind == CALL and self._calls is not None:
            self._calls.heard(frame.a, text)
        elif frame.kind == RESULT and len(text) <= RESULT_BYTES:
            self.said = text
        elif frame.kind == OUT_OF_MEMORY:
            self.out_of_memory = True
        else:
            raise ProtocolError(f"a program does not send messages of kind {frame.kind}")

    def _answer(self, frame: bytes) -> None:
        if self._feed is None:
            return  # the program has ended
        self._feed.add(frame)
        if self._feed.waiting > _MOST_UNREAD:
            self.close()  # until it has ended, no more answers may pile up
            self._stop("it does not read the answers to its calls")

    def drain(self) -> None:
        """The program has ended: what it said last, and an end to its calls."""
        connection = self._socket
        self.close()
        if connection is None:
            return
        with suppress(OSError, ProtocolError):
            while count := connection.recv_into(self._reader.room()):
                for frame in self._reader.feed(count):
                    if frame.kind != CALL:
                        self._heard(frame)

    def close(self) -> None:
        """Lets go of the socket, which is not its own. Idempotent."""
        if self._calls is not None:
            self._calls.close()
        if self._feed is not None:
            self._feed.cancel()
        if self._socket is not None:
            self._loop.remove_reader(self._socket.fileno())
        self._feed = self._socket = None
