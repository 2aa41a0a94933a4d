"""One connection between an engine and a Dask worker, for messages of many slots.

Dask has connected, authenticated and encrypted it. From then on it carries msgpack of our own, with
nothing but numbers and bytes in it: Dask's own reader takes a dict such as `{"__Pickled__": 1}` for an
order to unpickle something, so nothing that a guest may have said is ever given to it.

    engine → Dask worker                       Dask worker → engine
    PACKET   slot, run, a packet of the relay  PACKET   slot, run, a packet of the relay
    DROP     slot, run: it has ended           OPENED   slot: it may be used
    RELEASE  slot: it goes back to Dask
    RIDE     slot, another that rides on it
    PING                                       PING
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import msgpack
from distributed.comm import core as comms
from tornado.iostream import StreamClosedError

from ..engine import packets
from ..errors import ProtocolError
from .pipe import Pipe

PACKET, OPENED, DROP, RELEASE, RIDE, PING = range(6)
_MOST = 64 << 20  # bytes that one write of the other side may have; windows keep it far below

Handler = Callable[[int, int, int, bytes], None]


class Channel:
    """Lives on Dask's loop. Messages of one turn of the loop leave in one write, or before an urgent one."""

    def __init__(self, comm: Any, pipe: Pipe, address: str) -> None:
        self.address = address
        self._comm = comm
        self.pipe = pipe
        self._loop = asyncio.get_running_loop()
        self._waiting: list[tuple[int, int, int, bytes]] = []
        self._heard = self._loop.time()

    @classmethod
    async def over(cls, comm: Any, address: str) -> Channel:
        """Over a connection of Dask's, which carries nothing else from then on.

        Raises ProtocolError if it is no stream of bytes, such as `inproc`, and OSError if it is closed.
        """
        if not hasattr(comm, "stream"):  # TCP, TLS and gateway comms have one
            peer = f"{comm.peer_address!s:.100}"
            raise ProtocolError(f'{peer} is not a stream: use tcp:// or tls:// (protocol="tcp://")')
        if comm.stream is None:
            raise StreamClosedError
        return cls(comm, await Pipe.over(comm.stream), address)

    @property
    def loop(self) -> asyncio.AbstractEventLoop:
        return self._loop

    def send(self, kind: int, slot: int = 0, run: int = 0, packet: bytes = b"") -> None:
        self._waiting.append((kind, slot, run, packet))
        if len(self._waiting) == 1:
            self._loop.call_soon(self._flush)

    def send_packet(self, slot: int, run: int, packet: bytes) -> None:
        """A guest, or a host, may be waiting for data."""
        if packets.kind_of(packet) != packets.DATA:
            self.send(PACKET, slot, run, packet)
            return
        self._waiting.append((PACKET, slot, run, packet))
        self._flush()

    def _flush(self) -> None:
        waiting, self._waiting = self._waiting, []
        if waiting:
            self.pipe.write(msgpack.packb(waiting))

    async def serve(self, handle: Handler, patience: float) -> None:
        """Until the other side is gone, or says nothing for so long, or makes no sense."""
        alive = asyncio.ensure_future(self._keep_alive(patience))
        unpacker = msgpack.Unpacker(max_buffer_size=_MOST, strict_map_key=True)

        def heard(data: Any) -> None:
            unpacker.feed(data)
            self._heard = self._loop.time()
            for messages in unpacker:
                for message in _checked(messages):
                    handle(*message)

        try:
            await self.pipe.read(heard)
        except (ProtocolError, ValueError, msgpack.UnpackException):
            pass
        finally:
            alive.cancel()
            self.abort()

    async def _keep_alive(self, patience: float) -> None:
        """A side that is stopped, or cut off, does not close its sockets."""
        while self._loop.time() - self._heard < patience:
            self.send(PING)
            await asyncio.sleep(patience / 6)
        self.abort()

    def abort(self) -> None:
        self.pipe.close()
        self._comm.abort()


async def connected(address: str, seconds: float, arguments: dict[str, Any]) -> Any:
    """A connection of Dask's; raises OSError."""
    return await comms.connect(address, timeout=seconds, **arguments)  # type: ignore[no-untyped-call]  # Dask's own


def _checked(messages: Any) -> list[list[Any]]:
    if type(messages) is not list:
        raise ProtocolError("a channel carries lists of messages")
    for message in messages:
        if type(message) is not list or list(map(type, message)) != [int, int, int, bytes]:
            raise ProtocolError("a message is not three numbers and bytes")
    return messages
