"""On the client: a slot that an engine holds somewhere, and the run that uses it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from ..backend import CANCELLED
from ..contract import CodeExecutionError
from ..engine.conversation import Conversation
from ..engine.distant import DistantWorker
from ..engine.places import Nest
from . import channel as wire
from .channel import Channel


@dataclass(eq=False)
class HeldSlot:
    """A Dask task; where it is, the scheduler has decided."""

    ident: int
    future: Any = None
    channel: Channel | None = None  # once it is open
    since: float = 0.0
    used: bool = False
    worker: DistantWorker | None = None  # of the run that uses it
    run: int = 0
    on: HeldSlot | None = None  # the slot that it rides on
    rider: HeldSlot | None = None
    idle: asyncio.TimerHandle | None = None

    def send(self, kind: int, run: int = 0, packet: bytes = b"") -> None:
        if self.channel is not None:
            self.channel.send(kind, self.ident, run, packet)

    def lend(
        self,
        loop: asyncio.AbstractEventLoop,
        isolation: int,
        run: int,
        on_closed: Callable[[HeldSlot], None],
    ) -> DistantWorker:
        """A worker for one run; numbers of runs only grow."""

        def closed(worker: DistantWorker) -> None:
            if self.worker is worker:
                self.worker = None
                self.send(wire.DROP, run)
                on_closed(self)

        def send(packet: bytes) -> None:
            if self.channel is not None:
                self.channel.send_packet(self.ident, run, packet)

        self.run = run
        self.worker = DistantWorker(loop, send, closed, isolation=isolation)
        return self.worker


@dataclass(eq=False)
class Waiting:
    """A run, from the time it asks for a slot on."""

    conversation: Conversation
    nest: Nest  # of itself
    parent: Nest | None  # of the run whose bridge began it
    retries: int

    def attach(self, worker: DistantWorker) -> None:
        """On Dask's loop."""
        try:
            attached = self.conversation.attach(worker)
        except RuntimeError:  # the run's loop was closed
            self.conversation.abandon(CANCELLED)
            attached = False
        if attached:
            worker.begin()
        else:
            worker.close()

    def abandon(self, reason: str) -> None:
        self.conversation.abandon(reason)

    def fail(self, message: str) -> None:
        self.conversation.fail(CodeExecutionError("EngineError", message))
