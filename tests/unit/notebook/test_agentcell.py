"""An %%agent cell without a notebook around it."""

from __future__ import annotations

import asyncio

import pytest

from sandbox_kernel.notebook.agentcell import AgentCell, Conversations, scripted_or_remote
from sandbox_kernel.notebook.interrupts import Guard
from sandbox_kernel.notebook.options.agent import parse_agent_options
from sandbox_kernel.notebook.show.linecap import Stream


class Nowhere:
    display = None

    def write(self, stream: Stream, text: str) -> None: ...
    def end(self) -> None: ...
    def cut(self) -> None: ...


class Silence:
    """An `input()` that nobody answers."""

    is_there = True

    def __init__(self) -> None:
        self.asked, self.gone = asyncio.Event(), asyncio.Event()

    async def ask(self, prompt: str) -> str:
        self.asked.set()
        try:
            return await asyncio.Future()
        finally:
            self.gone.set()


async def test_a_cell_that_is_stopped_takes_its_question_along() -> None:
    """Else it would hear the answer to the next cell's question."""
    line = Silence()
    cell = AgentCell(
        "how much?",
        parse_agent_options("--ask --code none", "kernel"),
        model=scripted_or_remote([[{"name": "price", "args": {}}], "done"]),
        functions={"price": lambda: 1},
        kept=Conversations(),
        line=line,
        guard=Guard(lambda: None),
        output=Nowhere(),
    )
    running = asyncio.ensure_future(cell.run())
    await asyncio.wait_for(line.asked.wait(), 60)
    cell.stop("interrupted")
    with pytest.raises(asyncio.CancelledError):
        await running
    await asyncio.wait_for(line.gone.wait(), 60)
