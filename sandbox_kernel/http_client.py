"""Tornado's simple HTTP client, which notices every end of a connection."""

from __future__ import annotations

from typing import Any
from weakref import WeakSet

from tornado.simple_httpclient import (
    HTTPStreamClosedError,
    SimpleAsyncHTTPClient,
    _HTTPConnection,
)


class HTTPClient(SimpleAsyncHTTPClient):
    """`HTTPClient(force_instance=True, …)`; answers are bounded by its options."""

    def initialize(self, **options: Any) -> None:  # type: ignore[override]  # tornado's own way
        super().initialize(**options)
        self._under_way: WeakSet[Connection] = WeakSet()

    def _connection_class(self) -> Any:
        def connect(*args: Any) -> Connection:
            made = Connection(*args)
            self._under_way.add(made)
            return made

        return connect

    def let_go(self) -> None:
        """Ends what is under way, which nobody waits for any more, and itself."""
        for connection in list(self._under_way):
            connection.final_callback = None  # type: ignore[assignment]  # as tornado does, too
            stream = getattr(connection, "stream", None)
            if stream is not None:
                stream.close()
        self.close()


class Connection(_HTTPConnection):
    def on_connection_close(self) -> None:
        """Tornado raises a reset in the middle of an answer where nobody hears it, and waits on."""
        if self.final_callback is not None:
            error = HTTPStreamClosedError("Connection closed")
            self._handle_exception(type(error), error, None)
