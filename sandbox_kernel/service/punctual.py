"""Requests have to arrive in time: their head, and then their body, each within the same seconds.

tornado can do that as well, with a future and a task around every read; here it is one timer.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable
from typing import cast

from tornado.http1connection import HTTP1ServerConnection
from tornado.httpserver import HTTPServer
from tornado.httputil import (
    HTTPConnection,
    HTTPHeaders,
    HTTPMessageDelegate,
    RequestStartLine,
    ResponseStartLine,
)
from tornado.iostream import IOStream


class _Clock:
    """Of one connection, which is closed if what is waited for comes too late."""

    def __init__(self, stream: IOStream, seconds: float) -> None:
        self._stream = stream
        self._seconds = seconds
        self._timer: asyncio.TimerHandle | None = None

    def start(self) -> None:
        self.stop()
        loop = asyncio.get_running_loop()
        self._timer = loop.call_later(self._seconds, self._stream.close)

    def stop(self) -> None:
        """Idempotent."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None


class _Timed(HTTPMessageDelegate):
    """One request on its way to the application."""

    def __init__(self, application: HTTPMessageDelegate, clock: _Clock) -> None:
        self._application = application
        self._clock = clock
        clock.start()

    def headers_received(
        self, start_line: RequestStartLine | ResponseStartLine, headers: HTTPHeaders
    ) -> Awaitable[None] | None:
        self._clock.start()
        return self._application.headers_received(start_line, headers)

    def data_received(self, chunk: bytes) -> Awaitable[None] | None:
        return self._application.data_received(chunk)

    def finish(self) -> None:
        self._clock.stop()
        self._application.finish()

    def on_connection_close(self) -> None:
        self._application.on_connection_close()


class PunctualServer(HTTPServer):
    """Closes connections that are too many at once, and those that keep it waiting."""

    most = 1_000
    seconds = 30.0

    def initialize(self, *args: object, **named: object) -> None:
        super().initialize(*args, **named)  # type: ignore[arg-type]  # passed on as they are
        self.conn_params.header_timeout = None
        self._clocks: dict[object, _Clock] = {}

    def handle_stream(self, stream: IOStream, address: tuple[object, ...]) -> None:
        if len(self._connections) >= self.most:
            stream.close()
        else:
            super().handle_stream(stream, address)

    def start_request(
        self, server_conn: object, request_conn: HTTPConnection
    ) -> HTTPMessageDelegate:
        clock = self._clocks.get(server_conn)
        if clock is None:
            stream = cast(HTTP1ServerConnection, server_conn).stream
            clock = self._clocks[server_conn] = _Clock(stream, self.seconds)
        return _Timed(super().start_request(server_conn, request_conn), clock)

    def on_close(self, server_conn: object) -> None:
        super().on_close(server_conn)
        self._clocks.pop(server_conn).stop()
