"""`/worker`: one WebSocket for one worker, whose bytes pass unread."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from typing import Any

from tornado.iostream import StreamClosedError
from tornado.web import stream_request_body
from tornado.websocket import WebSocketClosedError, WebSocketHandler

from .handler import Answering
from .refusals import Refusal, refuse
from .relays import LentWorker, heard


@stream_request_body
class WorkerSocket(Answering, WebSocketHandler):
    """Refused like any request, before there is a WebSocket, and before anything of a body is kept."""

    route = "/worker"
    _worker: LentWorker | None = None

    def prepare(self) -> None:
        try:
            self._check()
            self._worker = self.service.lend_worker(self._send)
        except Refusal as refusal:
            self.write_refusal(refusal)

    def _check(self) -> None:
        headers = self.request.headers
        self.guard.check_sender(headers.get)
        self.guard.check_key(headers.get)
        self.check_method()
        if "Transfer-Encoding" in headers or headers.get("Content-Length", "0") != "0":
            refuse("bad_request", "Content-Length: a WebSocket has no body")
        if headers.get("Sec-WebSocket-Origin") is not None:
            refuse("bad_request", "Sec-WebSocket-Origin: pages of a browser are not served")
        if (
            headers.get("Upgrade", "").lower() != "websocket"
            or "upgrade" not in headers.get("Connection", "").lower()
            or headers.get("Sec-WebSocket-Version") != "13"
            or not headers.get("Sec-WebSocket-Key")
        ):
            refuse("bad_request", "Upgrade: this is a WebSocket, for ServiceEngine")

    def data_received(self, chunk: bytes) -> None:
        """What was refused for its body may send some of it before it reads that."""

    def get_compression_options(self) -> None:
        """None: what passes is bounded as it is, and small."""

    def check_origin(self, origin: str) -> bool:
        return False  # the guard has refused it

    def open(self, *_: str, **__: str) -> None:
        self.set_nodelay(True)  # packets are small, and somebody waits for each

    def on_message(self, message: str | bytes) -> None:
        worker = self._worker
        if not isinstance(message, bytes) or worker is None or not worker.received(message):
            self.close(1002, "not a packet")

    def _send(self, packet: bytes) -> None:
        with suppress(WebSocketClosedError, StreamClosedError):  # on_close comes, or came
            self.write_message(packet, binary=True).add_done_callback(heard)

    def on_close(self) -> None:
        self._let_go()

    def on_finish(self) -> None:
        """Also where there never was a WebSocket."""
        super().on_finish()
        if self.get_status() != 101:
            self._let_go()

    def on_connection_close(self) -> None:
        super().on_connection_close()
        self._let_go()

    def _let_go(self) -> None:
        worker, self._worker = self._worker, None
        if worker is not None:
            worker.close()

    def log_exception(self, *_: Any) -> None:
        """A broken handshake is the client's."""


def keyword_settings(longest: int) -> Mapping[str, Any]:
    """For the application: how long a message may be, and how a dead peer is noticed."""
    return {
        "websocket_max_message_size": longest,
        "websocket_ping_interval": 20,
        "websocket_ping_timeout": 20,
    }
