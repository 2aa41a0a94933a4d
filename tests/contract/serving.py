"""The service as its users meet it: a process of its own, reached over HTTP."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

from tests.waiting import until

KEY = "a key for tests"


class Answer(NamedTuple):
    """What came back over HTTP."""

    status: int
    body: bytes
    headers: dict[str, str]

    @property
    def json(self) -> Any:
        return json.loads(self.body)


class Service(NamedTuple):
    """A running service."""

    url: str
    process: subprocess.Popen[str]

    def ask(self, method: str, path: str, body: Any = None, key: str | None = KEY) -> Answer:
        data = body if body is None or isinstance(body, bytes) else json.dumps(body).encode()
        headers = {"Content-Type": "application/json"}
        if key is not None:
            headers["Authorization"] = f"Bearer {key}"
        return ask(method, self.url + path, data, headers)

    def execute(self, code: str, **fields: Any) -> Any:
        return self.ask("POST", "/execute", {"code": code, **fields}).json


def ask(method: str, url: str, data: bytes | None, headers: dict[str, str]) -> Answer:
    request = urllib.request.Request(url, data, headers, method=method)
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    try:
        with opener.open(request, timeout=60) as answer:
            return Answer(answer.status, answer.read(), dict(answer.headers))
    except urllib.error.HTTPError as error:
        return Answer(error.code, error.read(), dict(error.headers))


@contextmanager
def serving(*flags: str, **environment: str) -> Iterator[Service]:
    """`sandbox-kernel serve`; fails with what it says if it does not start."""
    address = f"127.0.0.1:{free_port()}"
    process = start("--listen", address, *flags, **environment)
    service = Service(f"http://{address}", process)
    try:
        assert until(lambda: process.poll() is not None or _is_ready(service), 30)
        if process.poll() is not None:
            assert process.stderr is not None
            raise RuntimeError(process.stderr.read())
        yield service
    finally:
        process.terminate()
        process.communicate(timeout=60)


def start(*flags: str, **environment: str) -> subprocess.Popen[str]:
    names = {"PATH", "PYTHONPATH", "HOME", "TMPDIR"}
    kept = {name: value for name, value in os.environ.items() if name in names}
    settings = {"SANDBOX_EXECUTOR_SERVICE_API_KEY": KEY, **environment}
    return subprocess.Popen(
        [sys.executable, "-m", "sandbox_kernel", "serve", *flags],
        env={**kept, **settings},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def free_port() -> int:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return int(listener.getsockname()[1])


def _is_ready(service: Service) -> bool:
    try:
        return service.ask("GET", "/health").status == 200
    except OSError:
        return False
