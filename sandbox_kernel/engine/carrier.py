"""Carrier: bytes between a socket and a channel of packets, both ways, unread and within windows."""

from __future__ import annotations

import asyncio
import socket
from collections import deque
from collections.abc import Callable

from ..errors import ProtocolError
from . import packets
from .watch import Watch

_OWED = packets.WINDOW // 4  # bytes taken before the other side is told


class Carrier:
    """Lives on the channel's loop. Data that comes before the socket does is kept for it."""

    def __init__(
        self,
        loop: asyncio.AbstractEventLoop,
        send: Callable[[bytes], None],
        on_end: Callable[[], None],
        growth: Callable[[], int] = int,
    ) -> None:
        """`on_end` is called when the socket's other end has hung up; `growth` goes with the data."""
        self._loop = loop
        self._send = send
        self._on_end = on_end
        self._growth = growth
        self._socket: socket.socket | None = None
        self._reader = Watch(loop.add_reader, loop.remove_reader, self._read)
        self._writer = Watch(loop.add_writer, loop.remove_writer, self._drain)
        self._rest: deque[memoryview] = deque()  # that the socket did not take yet
        self._kept = 0  # bytes of those
        self._owed = 0  # bytes taken that the other side was not told of
        self.sent = 0  # bytes in all
        self._under_way = 0  # bytes sent that the other side did not take yet
        self._ended = self._closing = self._closed = False

    def begin(self, connection: socket.socket) -> None:
        if self._closed:
            return
        self._socket = connection
        if self._rest:
            self._drain()
        self._read()
        self._listen()

    # -- from the socket into the channel

    def _listen(self) -> None:
        if self._socket is not None and self._wants_more:
            self._reader.start(self._socket)
        else:
            self._reader.stop()

    @property
    def _wants_more(self) -> bool:
        return not self._ended and not self._closed and self._under_way < packets.WINDOW

    def _read(self) -> None:
        if self._socket is None or not self._wants_more:
            return
        try:
            content = self._socket.recv(packets.LARGEST)
        except BlockingIOError:
            return
        except OSError:
            content = b""
        if content:
            self.sent += len(content)
            self._under_way += len(content)
            self._send(packets.data(max(0, self._growth()), content))
        else:
            self._ended = True
        self._listen()
        if self._ended:
            self._on_end()

    def taken(self, count: int) -> None:
        """By the other side."""
        if count > self._under_way:
            raise ProtocolError("more bytes were taken than were sent")
        self._under_way -= count
        self._listen()

    # -- from the channel into the socket

    def write(self, content: memoryview) -> None:
        if self._closed or self._closing or not len(content):
            return
        self._kept += len(content)
        if self._kept > packets.WINDOW + packets.LARGEST:
            raise ProtocolError(f"more than {packets.WINDOW} bytes that were not taken yet")
        self._rest.append(content)
        if self._socket is not None and not self._writer.is_on:
            self._drain()

    def _drain(self) -> None:
        assert self._socket is not None
        taken = 0
        while self._rest:
            try:
                count = self._socket.send(self._rest[0])
            except BlockingIOError:
                break
            except OSError:  # whoever reads learns why
                taken, self._kept = taken + self._kept, 0
                self._rest.clear()
                break
            taken += count
            self._kept -= count
            self._rest[0] = self._rest[0][count:]
            if not len(self._rest[0]):
                self._rest.popleft()
        if self._rest:
            self._writer.start(self._socket)
        else:
            self._writer.stop()
        self._tell_taken(taken)
        if self._closing and not self._rest:
            self.close()

    def _tell_taken(self, count: int) -> None:
        self._owed += count
        if self._owed >= _OWED:
            owed, self._owed = self._owed, 0
            self._send(packets.taken(owed))

    # -- ending

    def close_after_rest(self) -> None:
        """Nothing more will come; what is kept is delivered first."""
        self._closing = True
        if not self._rest:
            self.close()

    def close(self) -> None:
        """The socket too. Idempotent."""
        if self._closed:
            return
        self._closed = True
        self._rest.clear()
        if self._socket is None:
            return
        if not self._loop.is_closed():
            self._reader.stop()
            self._writer.stop()
        self._socket.close()
