"""Talking to a service as careful clients do not: raw bytes, half requests, streams left behind."""

from __future__ import annotations

import json
import os
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import urlsplit

import psutil
import pytest

from tests.contract.serving import KEY, Service

SOAK_SECONDS = float(os.environ.get("SANDBOX_SOAK_SECONDS", "0"))
only_in_soak = pytest.mark.soak
_AUTHORIZED = f"Authorization: Bearer {KEY}\r\n"
LARGE_OUTPUT = 32 * 2**20  # bytes that the service of the session keeps
HANDSHAKE = (
    "Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\n"
    "Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n"
)
Answer = Callable[[dict[str, Any]], tuple[int, bytes]]


class Small(NamedTuple):
    """A service with one place, whose workspaces are soon forgotten, and its settings."""

    service: Service
    callback_host: str
    workspaces: Path
    most_connections: int
    wheels: Path
    registry: str  # of npm, with one package whose scripts leave a file beside the wheels


def connected(service: Service) -> socket.socket:
    parts = urlsplit(service.url)
    assert parts.hostname
    assert parts.port
    return socket.create_connection((parts.hostname, parts.port), timeout=60)


def head(method: str, path: str, headers: str = "", host: str = "127.0.0.1") -> bytes:
    """The beginning of a request, up to and with the empty line."""
    return f"{method} {path} HTTP/1.1\r\nHost: {host}\r\n{_AUTHORIZED}{headers}\r\n".encode()


def posted(path: str, body: Any, headers: str = "") -> bytes:
    data = json.dumps(body).encode()
    kind = f"Content-Type: application/json\r\nContent-Length: {len(data)}\r\n"
    return head("POST", path, kind + headers) + data


def everything(connection: socket.socket) -> bytes:
    """What comes until the other side hangs up; a reset is a way to do that."""
    found = b""
    try:
        while piece := connection.recv(65536):
            found += piece
    except ConnectionResetError:
        pass
    return found


def said(service: Service, request: bytes) -> bytes:
    """To a request that closes its connection."""
    with connected(service) as connection:
        connection.sendall(request)
        return everything(connection)


@contextmanager
def streaming(service: Service, path: str, body: Any) -> Iterator[Iterator[dict[str, Any]]]:
    """The events of an execution as they come; leaving hangs up."""
    with connected(service) as connection:
        connection.sendall(posted(path, body, "Accept: application/x-ndjson\r\n"))
        with connection.makefile("rb") as stream:
            yield _events(stream)


def _events(stream: Any) -> Iterator[dict[str, Any]]:
    """Of a chunked answer; a line may be in several chunks."""
    status = stream.readline()
    assert b" 200 " in status, status + stream.read(2000)
    while stream.readline().strip():
        pass
    rest = b""
    while size := int(stream.readline(), 16):
        *lines, rest = (rest + stream.read(size)).split(b"\n")
        yield from map(json.loads, lines)
        stream.readline()


def connections(service: Service) -> int:
    """That are open at its end."""
    found = psutil.Process(service.process.pid).net_connections("tcp")
    return sum(each.status == psutil.CONN_ESTABLISHED for each in found)


@contextmanager
def answering(answer: Answer, host: str = "127.0.0.1") -> Iterator[tuple[str, list[Any]]]:
    calls: list[Any] = []

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            call = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            calls.append(call)
            status, body = answer(call)
            self.send_response(status)
            if status == 302:
                self.send_header("Location", body.decode())
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer((host, 0), Handler)
    threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
    try:
        yield f"http://{host}:{server.server_port}/tools?a=1", calls
    finally:
        server.shutdown()
        server.server_close()


def told(value: Any) -> tuple[int, bytes]:
    return 200, json.dumps(
        {"data": value if isinstance(value, str) else json.dumps(value)}
    ).encode()


@contextmanager
def holding() -> Iterator[tuple[str, threading.Event]]:
    """A callback URL that answers nobody before the event is set."""
    event = threading.Event()

    def answer(call: dict[str, Any]) -> tuple[int, bytes]:
        event.wait(120)
        return told(None)

    with answering(answer) as (url, _):
        try:
            yield url, event
        finally:
            event.set()
