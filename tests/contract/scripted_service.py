"""A sandbox service that answers as it is told, over real HTTP, and keeps what it was sent."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, NamedTuple

FINISHED: dict[str, Any] = {
    "execution_id": "",
    "session_id": None,
    "stdout": "",
    "stderr": "",
    "logs": "",
    "exit_code": 0,
    "duration_ms": 1,
    "killed": False,
    "oom": False,
    "truncated": False,
    "output": None,
    "files": [],
    "output_files": [],
    "error": None,
}

Answer = Callable[[dict[str, Any]], tuple[int, dict[str, Any]]]


class Scripted(NamedTuple):
    """Where it listens, and what came."""

    url: str
    requests: list[dict[str, Any]]
    keys: list[str | None]


@contextmanager
def scripted(answer: Answer) -> Iterator[Scripted]:
    requests: list[dict[str, Any]] = []
    keys: list[str | None] = []

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            requests.append({"path": self.path, **body})
            keys.append(self.headers.get("Authorization"))
            status, shape = answer(body)
            data = json.dumps(shape).encode()
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
    try:
        yield Scripted(f"http://127.0.0.1:{server.server_port}", requests, keys)
    finally:
        server.shutdown()
        server.server_close()
