"""Real clients of the SDK against our server: over stdio and HTTP, in both eras."""

from __future__ import annotations

import asyncio
import contextlib
import os
import re
import sys
import threading
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from subprocess import PIPE, Popen
from typing import Any

import httpx2
from mcp import Client, StdioServerParameters
from mcp.client.stdio import stdio_client
from mcp.client.streamable_http import streamable_http_client
from mcp_types import CallToolResult

ERAS = ["legacy", "2026-07-28"]
COMMAND = [sys.executable, "-m", "sandbox_kernel", "mcp"]
LEAN = Path(__file__).with_name("lean.py")


def lean(said: Path) -> dict[str, Any]:
    """The configuration of a server that starts at once."""
    return {"command": sys.executable, "args": ["-I", "-S", str(LEAN), str(said)]}


@contextlib.asynccontextmanager
async def over_stdio(era: str, *words: str, **options: Any) -> AsyncIterator[Client]:
    """A server of its own, on pipes."""
    server = StdioServerParameters(command=COMMAND[0], args=[*COMMAND[1:], *words])
    with Path(os.devnull).open("w") as nowhere:
        async with Client(stdio_client(server, errlog=nowhere), mode=era, **options) as client:
            yield client


@contextlib.contextmanager
def http_server(*words: str, **environment: str) -> Iterator[str]:
    """The URL of a server on loopback; it is ended as Ctrl-C would."""
    process = Popen(
        [*COMMAND, "--http", "127.0.0.1:0", *words],
        stderr=PIPE,
        text=True,
        env={**os.environ, **environment},
    )
    assert process.stderr is not None
    line = process.stderr.readline()
    found = re.search(r"http://\S+", line)
    rest = threading.Thread(target=process.stderr.read, daemon=True)
    rest.start()
    try:
        assert found is not None, line
        yield found[0]
    finally:
        process.terminate()
        process.wait(30)
        rest.join(30)
        process.stderr.close()


@contextlib.asynccontextmanager
async def over_http(
    url: str, era: str, key: str | None = None, **options: Any
) -> AsyncIterator[Client]:
    headers = {} if key is None else {"Authorization": f"Bearer {key}"}
    async with httpx2.AsyncClient(headers=headers, timeout=60) as http:
        transport = streamable_http_client(url, http_client=http)
        async with Client(transport, mode=era, **options) as client:
            yield client


class Heard:
    """Hears of progress."""

    def __init__(self) -> None:
        self.all: list[tuple[float, str | None]] = []
        self.something = asyncio.Event()

    async def __call__(self, progress: float, total: float | None, message: str | None) -> None:
        self.all.append((progress, message))
        self.something.set()


def shape(result: CallToolResult) -> dict[str, Any]:
    """The answer of a call that was not refused."""
    assert not result.is_error, result.content
    assert isinstance(result.structured_content, dict)
    return result.structured_content


def refusal(result: CallToolResult) -> str:
    assert result.is_error
    return str(getattr(result.content[0], "text", ""))
