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
    with serving_as(start("--listen", "127.0.0.1:0", *flags, **environment)) as service:
        yield service


@contextmanager
def serving_as(process: subprocess.Popen[str]) -> Iterator[Service]:
    try:
        yield Service(f"http://{_address(process)}", process)
    finally:
        process.terminate()
        process.communicate(timeout=60)


def start(*flags: str, **environment: str) -> subprocess.Popen[str]:
    names = {"PATH", "PYTHONPATH", "HOME", "TMPDIR"}
    kept = {name: value for name, value in os.environ.items() if name in names}
    settings = {"SANDBOX_EXECUTOR_SERVICE_API_KEY": KEY, **environment}
    command = [sys.executable, "-m", "sandbox_kernel", "serve", *flags]
    return started(command, {**kept, **settings})


def started(command: list[str], environment: dict[str, str]) -> subprocess.Popen[str]:
    pipe = subprocess.PIPE
    return subprocess.Popen(command, env=environment, stdout=pipe, stderr=pipe, text=True)


def free_port() -> int:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return int(listener.getsockname()[1])


def _address(process: subprocess.Popen[str]) -> str:
    """That it says it listens on; what it says after that is left to be read."""
    assert process.stderr is not None
    said = ""
    for line in process.stderr:
        said += line
        if '"listening"' in line:
            return str(json.loads(line)["address"])
    raise RuntimeError(said)
