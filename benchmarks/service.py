"""`python -m benchmarks.service`: what HTTP adds to a program, and takes from the rate of runs.

Both sides are measured in turns within one process of this machine, so that its moods hit both alike.
"""

from __future__ import annotations

import asyncio
import contextlib
import http.client
import json
import os
import socket
import statistics
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from typing import Any, NamedTuple

from sandbox_kernel import Engine, Programs, run_code, run_program

_CODE, _SOURCE = "print(1)", "export default 1"
_CLIENTS = 4
_READY = 30.0  # seconds for a service to start


class Figures(NamedTuple):
    """Seconds of one program, and runs a second: in process, and through the service."""

    program: float
    request: float
    runs: float
    requests: float

    def table(self) -> str:
        added, ratio = (self.request - self.program) * 1000, self.request / self.program
        return "\n".join(
            [
                "| | in process | through the service | |",
                "|---|---|---|---|",
                f"| a Python program | {self.program * 1000:.1f} ms | {self.request * 1000:.1f} ms"
                f" | +{added:.1f} ms, {ratio:.2f}x |",
                f"| runs a second, {_CLIENTS} at once | {self.runs:.0f} | {self.requests:.0f}"
                f" | {self.requests / self.runs:.2f} of the engine's own |",
            ]
        )


class Client:
    """One connection that is kept, and no more work than it takes: what is measured is the service."""

    def __init__(self, port: int) -> None:
        self._socket = socket.create_connection(("127.0.0.1", port), timeout=60)
        self._read = self._socket.makefile("rb")

    def post(self, path: str, body: Any) -> Any:
        data = json.dumps(body).encode()
        head = f"POST {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n"
        self._socket.sendall(f"{head}Content-Length: {len(data)}\r\n\r\n".encode() + data)
        status, length = self._read.readline(), 0
        while (line := self._read.readline()) != b"\r\n":
            name, _, value = line.partition(b":")
            if name.lower() == b"content-length":
                length = int(value)
        shape = json.loads(self._read.read(length))
        if b" 200 " not in status:
            raise RuntimeError(shape)
        return shape

    def close(self) -> None:
        self._read.close()
        self._socket.close()


def measure(rounds: int = 200, seconds: float = 12.0) -> Figures:
    with contextlib.ExitStack() as stack:
        port = stack.enter_context(serving())
        programs = stack.enter_context(Programs(spares=4))
        engine = stack.enter_context(Engine(spares=4))
        client = stack.enter_context(contextlib.closing(Client(port)))
        in_process, requests = [], []
        for _ in range(rounds):
            in_process.append(_timed(lambda: run_program(_CODE, engine=programs).wait(60).stdout))
            requests.append(_timed(lambda: client.post("/execute", {"code": _CODE})["stdout"]))
        rates = [
            (_rate_here(engine, seconds / 12), _rate_there(port, seconds / 12)) for _ in range(12)
        ]
    here, there = zip(*rates, strict=True)
    medians = statistics.median(in_process), statistics.median(requests)
    return Figures(*medians, statistics.median(here), statistics.median(there))


def _timed(work: Any) -> float:
    began = time.perf_counter()
    if work() != "1\n":
        raise RuntimeError("it did not do the work")
    taken = time.perf_counter() - began
    time.sleep(0.03)  # so that a spare waits for the next one, on both sides
    return taken


def _rate_here(engine: Engine, seconds: float) -> float:
    async def client(until: float) -> int:
        count = 0
        while time.perf_counter() < until:
            if (await run_code(_SOURCE, engine=engine)).result != 1:
                raise RuntimeError("it did not do the work")
            count += 1
        return count

    async def all_of_them() -> int:
        until = time.perf_counter() + seconds
        return sum(await asyncio.gather(*(client(until) for _ in range(_CLIENTS))))

    return asyncio.run(all_of_them()) / seconds


def _rate_there(port: int, seconds: float) -> float:
    counts: list[int] = []
    until = time.perf_counter() + seconds

    def client() -> None:
        connection, count = Client(port), 0
        while time.perf_counter() < until:
            if connection.post("/run", {"source": _SOURCE})["result"] != 1:
                raise RuntimeError("it did not do the work")
            count += 1
        counts.append(count)
        connection.close()

    threads = [threading.Thread(target=client) for _ in range(_CLIENTS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return sum(counts) / seconds


@contextlib.contextmanager
def serving() -> Iterator[int]:
    """A service on a port of its own choice, which its log tells."""
    command = [sys.executable, "-m", "sandbox_kernel", "serve", "--listen", "127.0.0.1:0"]
    environment = {**os.environ, "SANDBOX_ENVIRONMENT": "local", "SANDBOX_MAX_CONCURRENT": "8"}
    with subprocess.Popen(command, env=environment, stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr is not None
        port = int(json.loads(process.stderr.readline())["address"].rpartition(":")[2])
        reading = threading.Thread(target=process.stderr.read)
        reading.start()
        try:
            _wait_until_ready(port)
            yield port
        finally:
            process.terminate()
            reading.join()


def _wait_until_ready(port: int) -> None:
    deadline = time.monotonic() + _READY
    while time.monotonic() < deadline:
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=10)
        connection.request("GET", "/readyz")
        status = connection.getresponse().status
        connection.close()
        if status == 200:
            return
        time.sleep(0.05)
    raise TimeoutError("the service is not ready")


if __name__ == "__main__":
    print(measure().table())
