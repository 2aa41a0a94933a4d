"""The front end's `input()`, awaited: the loop goes on, and a run that ends takes its question along."""

from __future__ import annotations

import asyncio
import sys
import threading
from typing import Any, Protocol

import zmq

_LOOK = 0.05  # seconds between two looks for an answer


class Line(Protocol):
    """Asks for one line of text; `is_there` says whether anybody could answer."""

    @property
    def is_there(self) -> bool: ...
    async def ask(self, prompt: str) -> str: ...


class KernelInput:
    """Of the front end that sent the cell; `allowed` is what its request said about that."""

    def __init__(self, kernel: Any, allowed: bool) -> None:
        self._kernel = kernel
        self.is_there = allowed and kernel.session is not None
        self._ident = kernel._parent_ident.get("shell") if self.is_there else None
        self._parent = kernel.get_parent("shell")

    async def ask(self, prompt: str) -> str:
        kernel, socket = self._kernel, self._kernel.stdin_socket
        while socket.poll(0):  # late answers to earlier questions
            socket.recv_multipart(zmq.NOBLOCK)
        content = {"prompt": prompt, "password": False}
        kernel.session.send(socket, "input_request", content, self._parent, ident=self._ident)
        while True:
            if socket.poll(0):
                _, reply = kernel.session.recv(socket)
                if reply is not None:
                    value = reply.get("content", {}).get("value")
                    return value if isinstance(value, str) else ""
            await asyncio.sleep(_LOOK)


class TerminalInput:
    """Of a terminal, where nothing else reads while a cell runs."""

    @property
    def is_there(self) -> bool:
        return sys.stdin is not None and sys.stdin.isatty()

    async def ask(self, prompt: str) -> str:
        loop = asyncio.get_running_loop()
        answer: asyncio.Future[str] = loop.create_future()

        def read() -> None:
            try:
                text = input(prompt)
            except (EOFError, OSError):
                text = ""
            loop.call_soon_threadsafe(_give, answer, text)

        threading.Thread(target=read, name="permission", daemon=True).start()
        return await answer


def _give(answer: asyncio.Future[str], text: str) -> None:
    if not answer.done():
        answer.set_result(text)
