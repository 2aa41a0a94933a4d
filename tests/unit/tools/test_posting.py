"""A request to a service: whoever stops waiting hangs up, so that the service can end what it runs."""

from __future__ import annotations

import asyncio

import pytest

from sandbox_kernel.tools.posting import post


def test_a_request_that_is_cancelled_hangs_up(caplog: pytest.LogCaptureFixture) -> None:
    async def main() -> None:
        asked, hung_up = asyncio.Event(), asyncio.Event()

        async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            await reader.readuntil(b"\r\n\r\n")
            asked.set()
            while await reader.read(1000):
                pass
            hung_up.set()
            writer.close()

        async with await asyncio.start_server(serve, "127.0.0.1", 0) as server:
            url = "http://127.0.0.1:{1}/execute".format(*server.sockets[0].getsockname())
            task = asyncio.create_task(post(url, "{}", {}, seconds=300, most_bytes=1000))
            await asked.wait()
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
            await asyncio.wait_for(hung_up.wait(), 60)

    asyncio.run(main())
    assert caplog.text == ""
