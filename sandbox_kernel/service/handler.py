"""What every handler has: the guard, bounds, errors as JSON.

Bodies are read piece by piece, so that a request is refused, or found to be too large, before it is
in memory. A refused body that fits is read and thrown away: closing a connection on somebody who
still sends loses the answer.
"""

from __future__ import annotations

import asyncio
import json
import logging
from time import perf_counter
from typing import Any, ClassVar

from tornado.iostream import StreamClosedError
from tornado.web import HTTPError, RequestHandler, stream_request_body

from .guard import Guard
from .logs import log_request
from .refusals import RETRY_AFTER, STATUS_OF, Refusal, refuse
from .service import Service

_READ_AWAY = 4  # times the largest body, of one that is refused
_DIGITS = 18  # of a length that is read; of a longer one so many are too many already
_log = logging.getLogger("sandbox_kernel.service")
_SAFE = {
    "Cache-Control": "no-store",
    "X-Content-Type-Options": "nosniff",
    "Content-Security-Policy": "default-src 'none'; sandbox",
}


class Answering(RequestHandler):
    """Answers without a word of the host's, and counts what it answered."""

    service: Service
    guard: Guard
    route: ClassVar[str] = "/"
    methods: ClassVar[tuple[str, ...]] = ("GET",)
    _received = 0  # bytes of the body

    def initialize(self, service: Service, guard: Guard) -> None:
        self.service, self.guard = service, guard
        self._began = perf_counter()

    def set_default_headers(self) -> None:
        self.clear_header("Server")
        for name, value in _SAFE.items():
            self.set_header(name, value)

    def check_method(self) -> None:
        if self.request.method not in self.methods:
            refuse("method_not_allowed", f"use {' or '.join(self.methods)} here")

    def write_refusal(self, refusal: Refusal) -> None:
        if self._headers_written:
            return
        self.set_status(refusal.status)
        if refusal.status == 503:
            self.set_header("Retry-After", str(RETRY_AFTER))
        if refusal.status == 401:
            self.set_header("WWW-Authenticate", "Bearer")
        if refusal.status == 405:
            self.set_header("Allow", ", ".join(self.methods))
        self.write_json(refusal.to_json())

    def write_json(self, shape: Any) -> None:
        self.write_bytes(json.dumps(shape).encode(), "application/json")

    def write_bytes(self, data: bytes, kind: str) -> None:
        self.set_header("Content-Type", kind)
        self.finish(data)

    def finish(self, chunk: str | bytes | dict[str, Any] | None = None) -> asyncio.Future[None]:
        """Whoever does not read an answer is hung up on, and holds no connection with it."""
        stream = self.request.connection.stream  # type: ignore[union-attr]  # HTTP/1 has one
        written = super().finish(chunk)
        if not written.done():
            loop = asyncio.get_running_loop()
            timer = loop.call_later(self.service.settings.read_timeout, stream.close)
            written.add_done_callback(lambda _: timer.cancel())
        return written

    def write_error(self, status_code: int, **info: Any) -> None:
        """What tornado itself refuses, and mistakes of ours, of which nothing is told."""
        codes = {status: code for code, status in STATUS_OF.items() if code != "draining"}
        if 400 <= status_code < 500:
            self.write_refusal(Refusal(codes.get(status_code, "bad_request"), "not understood"))
        else:
            self.write_refusal(Refusal("busy", "the service made a mistake; its log says more"))

    def log_exception(self, kind: Any, error: Any, trace: Any) -> None:
        if not isinstance(error, HTTPError):
            _log.error("a request failed", exc_info=(kind, error, trace))

    def on_finish(self) -> None:
        status = self.get_status()
        self.service.metrics.requests[self.route, status] += 1
        seconds = perf_counter() - self._began
        log_request(self.request.method or "", self.route, status, seconds, self._received)


@stream_request_body
class Handler(Answering):
    """A request is checked, read, answered by `serve`, and counted."""

    needs_key: ClassVar[bool] = True
    body_is_json: ClassVar[bool] = True

    def initialize(self, service: Service, guard: Guard) -> None:
        super().initialize(service, guard)
        self._refusal: Refusal | None = None
        self._pieces: list[bytes] = []
        self._held = 0

    def prepare(self) -> None:
        try:
            self._check()
        except Refusal as refusal:
            self._refusal = refusal
        self._refuse_if_larger(self._promised())

    def _check(self) -> None:
        """What is known before the body."""
        self.guard.check_sender(self.request.headers.get)
        if self.needs_key:
            self.guard.check_key(self.request.headers.get)
        self.check_method()
        if self.request.method == "POST" and self.body_is_json:
            kind = self.request.headers.get("Content-Type", "").partition(";")[0]
            if kind.strip().lower() != "application/json":
                refuse("unsupported_media_type", "send JSON: Content-Type: application/json")

    def _promised(self) -> int:
        length = self.request.headers.get("Content-Length", "0")
        return int(length[:_DIGITS]) if length.isdecimal() else 0

    def _refuse_if_larger(self, size: int) -> None:
        """What is far too large is answered at once: its rest is not read, and the connection ends."""
        most = self.service.settings.max_body
        if size > most and self._refusal is None:
            self._refusal = Refusal("too_large", f"a body has at most {most:,} bytes")
            self._drop_body()
        if size > _READ_AWAY * most and self._refusal is not None and not self._finished:
            self.write_refusal(self._refusal)

    def data_received(self, chunk: bytes) -> None:
        self._received += len(chunk)
        self._refuse_if_larger(self._received)
        if self._refusal is None:
            self._keep(chunk)

    def _keep(self, chunk: bytes) -> None:
        try:
            self.service.hold(len(chunk))
        except Refusal as refusal:
            self._refusal = refusal
            self._drop_body()
        else:
            self._held += len(chunk)
            self._pieces.append(chunk)

    def _drop_body(self) -> None:
        """Idempotent."""
        self._pieces = []
        self.service.hold(-self._held)
        self._held = 0

    @property
    def body(self) -> bytes:
        return b"".join(self._pieces)

    @property
    def requester(self) -> str:
        """An address; empty behind a unix socket."""
        return "" if self.service.address.path else self.request.remote_ip or ""

    async def _serve(self, *path: str) -> None:
        """Every method ends here; what is refused is answered, what is unexpected is ours."""
        if self._finished:
            return
        try:
            if self._refusal is not None:
                raise self._refusal
            await self.serve(*path)
        except Refusal as refusal:
            self.write_refusal(refusal)
        except StreamClosedError:
            pass  # nobody is there to be answered

    get = post = put = delete = head = options = patch = _serve

    async def serve(self, *path: str) -> None:
        """Answers a request that may be answered."""
        raise NotImplementedError

    def on_connection_close(self) -> None:
        self._drop_body()

    def on_finish(self) -> None:
        self._drop_body()
        super().on_finish()

    async def read_in_time(self, written: asyncio.Future[None]) -> None:
        """Whoever does not read what is written is not waited for."""
        if written.done():
            return written.result()  # most are, and the loop need not turn for them
        try:
            await asyncio.wait_for(written, self.service.settings.read_timeout)
        except TimeoutError:
            self.request.connection.stream.close()  # type: ignore[union-attr]  # HTTP/1 has one
            raise StreamClosedError from None
