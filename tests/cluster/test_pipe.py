"""The bytes of a connection that was Dask's: all of them, in order, until either side ends it."""

from __future__ import annotations

import asyncio
import socket
from typing import Any

import pytest
from tornado.iostream import StreamClosedError

from sandbox_kernel.cluster.channel import Channel
from sandbox_kernel.cluster.pipe import Pipe
from sandbox_kernel.errors import ProtocolError
from tests.cluster.joined import joined

LARGE = bytes(range(256)) * 20_000  # more than sockets keep


async def test_what_the_stream_has_read_ahead_is_not_lost() -> None:
    async with joined() as (comm, far):
        far.send(b"one two ")
        assert await comm.stream.read_bytes(4) == b"one "
        pipe = await Pipe.over(comm.stream)
        far.send(b"three")
        far.shutdown(socket.SHUT_WR)
        heard = bytearray()
        await asyncio.wait_for(pipe.read(heard.extend), 20)
        assert heard == b"two three"


async def test_what_the_stream_has_yet_to_write_comes_first() -> None:
    async with joined() as (comm, far):
        comm.stream.write(LARGE)
        expected = LARGE + b"last"
        read = asyncio.create_task(asyncio.to_thread(_read_all, far, len(expected)))
        pipe = await Pipe.over(comm.stream)
        pipe.write(b"last")
        assert await read == expected
        pipe.close()


async def test_a_slow_reader_gets_everything_in_order() -> None:
    async with joined() as (comm, far):
        pipe = await Pipe.over(comm.stream)
        reading = asyncio.create_task(pipe.read(_no_news))
        for n in range(10):
            pipe.write(bytes([n]) + LARGE)
        pipe.write(b"end")
        expected = b"".join(bytes([n]) + LARGE for n in range(10)) + b"end"
        assert await asyncio.to_thread(_read_all, far, len(expected)) == expected
        far.close()
        await asyncio.wait_for(reading, 20)


async def test_large_data_comes_whole() -> None:
    async with joined() as (comm, far):
        pipe = await Pipe.over(comm.stream)
        heard = bytearray()
        reading = asyncio.create_task(pipe.read(heard.extend))
        await asyncio.to_thread(far.sendall, LARGE)
        far.close()
        await asyncio.wait_for(reading, 20)
        assert heard == LARGE


async def test_it_ends_when_dask_closes_the_connection() -> None:
    async with joined() as (comm, far):
        pipe = await Pipe.over(comm.stream)
        reading = asyncio.create_task(pipe.read(_no_news))
        await asyncio.sleep(0)
        comm.stream.close()
        await asyncio.wait_for(reading, 20)
        assert far.recv(1) == b""
        pipe.write(b"nobody reads this")  # and nobody minds


async def test_it_ends_when_its_reader_is_cancelled() -> None:
    async with joined() as (comm, far):
        pipe = await Pipe.over(comm.stream)
        reading = asyncio.create_task(pipe.read(_no_news))
        await asyncio.sleep(0)
        reading.cancel()
        with pytest.raises(asyncio.CancelledError):
            await reading
        assert far.recv(1) == b""


@pytest.mark.parametrize("early", [True, False])
async def test_what_its_reader_raises_ends_it(early: bool) -> None:
    def refuse(data: Any) -> None:
        raise LookupError(bytes(data))

    async with joined() as (comm, far):
        if early:
            far.send(b"x")
        pipe = await Pipe.over(comm.stream)
        if not early:
            far.send(b"x")
        with pytest.raises(LookupError, match="x"):
            await asyncio.wait_for(pipe.read(refuse), 20)
        assert far.recv(1) == b""


async def test_a_connection_that_is_closed_or_no_stream_is_refused() -> None:
    async with joined() as (comm, _):
        comm.abort()
        with pytest.raises(StreamClosedError):
            await Channel.over(comm, "x")

    class Closed:
        stream = None  # as Dask leaves it

    class InProcess:
        peer_address = "inproc://1/2"

    with pytest.raises(StreamClosedError):
        await Channel.over(Closed(), "x")

    with pytest.raises(ProtocolError, match="inproc://1/2 is not a stream: use tcp:// or tls://"):
        await Channel.over(InProcess(), "x")


def _read_all(far: socket.socket, count: int) -> bytes:
    found = bytearray()
    while len(found) < count and (data := far.recv(1 << 16)):
        found += data
    return bytes(found)


def _no_news(data: Any) -> None:
    raise AssertionError("nothing was sent")
