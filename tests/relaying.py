"""A backend whose workers are reached through packets only: a channel between two threads.

`Channel` joins a DistantWorker and a Relay as a network would, whole packets in order; a test may
look at them, change them, and break it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any, Protocol

from sandbox_kernel.backend import ActiveCode, Lent, Listener
from sandbox_kernel.engine.conversation import Conversation
from sandbox_kernel.engine.distant import DistantWorker, worker_lost
from sandbox_kernel.engine.places import Nest, current_nest
from sandbox_kernel.engine.pool import WorkerPool
from sandbox_kernel.engine.relay import Relay
from sandbox_kernel.engine.settings import Settings
from sandbox_kernel.errors import EngineClosedError, ProtocolError
from sandbox_kernel.loops import LoopThread
from sandbox_kernel.wire.order import Order


class Pool(Protocol):
    """What a relay asks of a pool."""

    def hand_out(self, taker: Any, parent: Any = None) -> None: ...
    def release(self, taker: Any) -> None: ...


class Channel:
    """One run's. `up` is what the relay sent, `down` what it was sent."""

    def __init__(
        self, pool: Pool, near: asyncio.AbstractEventLoop, far: asyncio.AbstractEventLoop
    ) -> None:
        self._near, self._far = near, far
        self.up: list[bytes] = []
        self.down: list[bytes] = []
        self.broken = False
        self.relay = Relay(pool, far, self._send_up)  # type: ignore[arg-type]  # impostors have one
        self.worker = DistantWorker(near, self._send_down, self._closed)

    def _send_down(self, packet: bytes) -> None:
        assert asyncio.get_running_loop() is self._near
        self.down.append(packet)
        if not self.broken:
            self._far.call_soon_threadsafe(self._received, packet)

    def _received(self, packet: bytes) -> None:
        try:
            self.relay.received(packet)
        except ProtocolError:
            self.relay.close()
            self.lose("the channel is closed")

    def _send_up(self, packet: bytes) -> None:
        assert asyncio.get_running_loop() is self._far
        self.up.append(packet)
        if not self.broken:
            self._near.call_soon_threadsafe(self.worker.received, packet)

    def _closed(self, worker: DistantWorker) -> None:
        self._far.call_soon_threadsafe(self.relay.close)

    def lose(self, reason: str) -> None:
        """As when the machine at its other end is gone."""
        self.broken = True
        self._far.call_soon_threadsafe(self.relay.close)
        self.worker.lost(worker_lost(reason))


class RelayBackend:
    """`on_channel` sees the channel of each run before it is used."""

    serves = "run_code"

    def __init__(
        self,
        pool: Pool | None = None,
        settings: Settings | None = None,
        *,
        retries: int = 0,
        on_channel: Callable[[Channel], None] | None = None,
    ) -> None:
        self.settings = settings or Settings(spares=2, concurrency=1000)
        self._own = WorkerPool(self.settings) if pool is None else None
        self._pool: Pool = pool or self._own  # type: ignore[assignment]  # one of them is there
        self._near, self._far = LoopThread().loop, LoopThread().loop
        self._retries = retries
        self._on_channel = on_channel
        self._live: set[Conversation] = set()
        self.runs_begun = 0
        self.closed = False

    def start(
        self, order: Order, lent: Lent, listener: Listener, loop: asyncio.AbstractEventLoop
    ) -> ActiveCode:
        if self.closed:
            raise EngineClosedError("the engine is closed; make another one")
        parent = current_nest.get()
        nest = Nest() if parent is None else parent.inner()
        left = self._retries

        def lost(conversation: Conversation) -> bool:
            nonlocal left
            left -= 1
            return left >= 0 and self._attach(conversation)

        conversation = Conversation(
            order, lent, listener, loop, self.settings, nest, self._live.discard, lost
        )
        self._live.add(conversation)
        self.runs_begun += 1
        self._attach(conversation)
        return conversation

    def _attach(self, conversation: Conversation) -> bool:
        channel = Channel(self._pool, self._near, self._far)
        if self._on_channel is not None:
            self._on_channel(channel)
        if not conversation.attach(channel.worker):
            channel.worker.close()
            return False
        channel.worker.begin()
        return True

    def close(self) -> None:
        self.closed = True
        for conversation in list(self._live):
            conversation.abandon("the engine was closed")
        if self._own is not None:
            self._own.close()
        for loop in (self._near, self._far):
            loop.call_soon_threadsafe(loop.stop)

    def __enter__(self) -> RelayBackend:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
