"""A connection as Dask makes it, whose other end is ours."""

from __future__ import annotations

import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from tornado.iostream import IOStream


class Comm:
    """What a channel knows of a connection."""

    def __init__(self, connection: socket.socket) -> None:
        self.stream: Any = IOStream(connection)

    def abort(self) -> None:
        self.stream.close()


@asynccontextmanager
async def joined() -> AsyncIterator[tuple[Comm, socket.socket]]:
    near, far = socket.socketpair()
    comm = Comm(near)
    with near, far:
        yield comm, far
        comm.abort()
