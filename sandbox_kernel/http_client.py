"""Tornado's simple HTTP client, which notices every end of a connection."""

from __future__ import annotations

from typing import Any

from tornado.simple_httpclient import (
    HTTPStreamClosedError,
    SimpleAsyncHTTPClient,
    _HTTPConnection,
)


class HTTPClient(SimpleAsyncHTTPClient):
    """`HTTPClient(force_instance=True, …)`; answers are bounded by its options."""

    def _connection_class(self) -> Any:
        return Connection


class Connection(_HTTPConnection):
    def on_connection_close(self) -> None:
        """Tornado raises a reset in the middle of an answer where nobody hears it, and waits on."""
        if self.final_callback is not None:
            error = HTTPStreamClosedError("Connection closed")
            self._handle_exception(type(error), error, None)
