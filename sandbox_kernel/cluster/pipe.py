"""The bytes of a connection that Dask has made, authenticated and encrypted, without Dask's detours.

A stream of Tornado's gives what it reads to a future, and tells a future when it has written: turns of
the loop that every call of a bridge would wait for, twice on each machine.
"""

from __future__ import annotations

import asyncio
import socket
import ssl
from collections import deque
from collections.abc import Callable
from typing import Any

from tornado.ioloop import IOLoop

from ..engine.watch import Watch

_CHUNK = 1 << 18
_RECORD = 1 << 14  # bytes that one reading of an encrypted connection gives at most
_READINGS = 16  # in one turn of the loop, which belongs to others too
_NOT_NOW = (BlockingIOError, ssl.SSLWantReadError, ssl.SSLWantWriteError)


class Pipe:
    """`await Pipe.over(stream)`; lives on Dask's loop. Nothing waits for writing: windows bound it."""

    def __init__(self, connection: socket.socket, said: bytes) -> None:
        """`said`: what came before this one was made."""
        self._loop = asyncio.get_running_loop()
        self.socket = connection
        self._said = said
        self._room = memoryview(bytearray(_CHUNK))
        self._rest: deque[memoryview] = deque()  # that the socket did not take yet
        self._writer = Watch(self._loop.add_writer, self._loop.remove_writer, self._drain)
        self._over: asyncio.Future[None] = self._loop.create_future()
        self._on_bytes: Callable[[Any], None] | None = None

    @classmethod
    async def over(cls, stream: Any) -> Pipe:
        """Takes the socket from a stream, which then is closed for whoever else may want to use it.

        Raises StreamClosedError.
        """
        await stream.write(b"")  # after all that was written before
        said = b""
        while (reading := stream.read_bytes(_CHUNK, partial=True)).done():
            said += reading.result()
        # It waits: so nothing is left in the stream's buffer. It ends with the stream.
        IOLoop.current().remove_handler(stream.fileno())
        connection, stream.socket = stream.socket, _no_socket()
        pipe = cls(connection, said)
        reading.add_done_callback(pipe._stream_closed)
        return pipe

    async def read(self, on_bytes: Callable[[Any], None]) -> None:
        """Until the other side hangs up, or `close`. What `on_bytes` raises is raised here."""
        self._on_bytes = on_bytes
        try:
            if self._said:
                on_bytes(self._said)
            if not self._over.done():
                self._loop.add_reader(self.socket, self._readable)
            await self._over
        finally:
            self.close()

    def _readable(self) -> None:
        assert self._on_bytes is not None
        try:
            for _ in range(_READINGS):
                count = self.socket.recv_into(self._room)
                if not count:
                    self.close()
                    return
                self._on_bytes(self._room[:count])
                if count < _RECORD or self._over.done():
                    return
        except _NOT_NOW:
            pass
        except OSError:
            self.close()
        except Exception as error:
            self._end(error)

    def write(self, data: bytes) -> None:
        if self._over.done():
            return  # whoever reads learns of it
        self._rest.append(memoryview(data))
        if len(self._rest) == 1:
            self._drain()

    def _drain(self) -> None:
        try:
            while self._rest:
                first = self._rest[0]
                count = self.socket.send(first)
                if count == len(first):
                    self._rest.popleft()
                else:
                    self._rest[0] = first[count:]
        except _NOT_NOW:
            self._writer.start(self.socket)
        except OSError:
            self.close()
        else:
            self._writer.stop()

    def close(self) -> None:
        """Idempotent."""
        self._end(None)

    def _end(self, error: Exception | None) -> None:
        if self.socket.fileno() >= 0:
            self._loop.remove_reader(self.socket)
            self._writer.stop()
            self.socket.close()
        self._rest.clear()
        if self._over.done():
            return
        if error is None:
            self._over.set_result(None)
        else:
            self._over.set_exception(error)

    def _stream_closed(self, reading: Any) -> None:
        """By Dask, or by us."""
        if not reading.cancelled():
            reading.exception()
        self.close()


def _no_socket() -> socket.socket:
    """What a stream may close in place of its own."""
    closed = socket.socket()
    closed.close()
    return closed
