"""A server on this machine that gives one answer, whatever it is asked."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, NamedTuple


class Asked(NamedTuple):
    """A request that came."""

    path: str
    headers: dict[str, str]
    body: Any


@contextmanager
def answering(
    body: bytes, status: int = 200, headers: dict[str, str] | None = None, hang: bool = False
) -> Iterator[tuple[str, list[Asked]]]:
    """Its address, and what it is asked; one that hangs never answers."""
    seen: list[Asked] = []
    over = threading.Event()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            given = self.rfile.read(int(self.headers["Content-Length"]))
            seen.append(Asked(self.path, dict(self.headers), json.loads(given)))
            if hang:
                over.wait(60)
            self.send_response(status)
            for name, value in (headers or {}).items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}", seen
    finally:
        over.set()
        server.shutdown()
        server.server_close()
