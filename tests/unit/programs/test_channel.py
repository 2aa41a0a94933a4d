"""The host's end of a program's channel, against a program that is slow to end."""

from __future__ import annotations

import asyncio
import json
import socket
from typing import Any

from sandbox_kernel.programs.channel import Channel
from sandbox_kernel.programs.protocol import CALL
from sandbox_kernel.wire.frame import pack
from tests.waiting import eventually

CALLS = 900


class Large:
    """A toolbox whose one tool gives 2 MB."""

    def __init__(self) -> None:
        self.called = 0

    async def dispatch_from_code(self, name: str, args: Any = None) -> str:
        self.called += 1
        return "x" * (2 * 2**20)


async def test_no_answer_is_made_any_more_for_a_program_that_does_not_read_them() -> None:
    ours, theirs = socket.socketpair()
    with ours, theirs:
        ours.setblocking(False)
        stopped: list[str] = []
        toolbox = Large()
        loop = asyncio.get_running_loop()
        channel = Channel(toolbox, None, loop, stopped.append, lambda _: None)
        channel.open(ours, b"{}", b"")
        text = json.dumps({"name": "large", "args": {}}).encode()
        frames = [part for number in range(CALLS) for part in pack(CALL, number, text=text)]
        theirs.sendall(b"".join(map(bytes, frames)))  # which fits into the socket
        assert await eventually(lambda: stopped)
        called = toolbox.called
        assert called < 64  # 16 answers that wait, 16 calls at once, and those in the socket
        await asyncio.sleep(0)
        assert (toolbox.called, stopped) == (called, ["it does not read the answers to its calls"])
        channel.close()
