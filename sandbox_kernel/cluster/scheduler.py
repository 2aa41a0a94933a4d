"""On the Dask scheduler, for clients that reach nothing else: it passes channels on, unread."""

from __future__ import annotations

import asyncio
from typing import Any

from distributed.diagnostics.plugin import SchedulerPlugin
from tornado.iostream import StreamClosedError

from .channel import connected
from .slots import CHANNEL

RELAY = "sandbox_kernel_relay"
_CHUNK = 1 << 18
_CONNECT_SECONDS = 10


class Relaying(SchedulerPlugin):
    """Joins the connection of an engine to one of its own to the Dask worker."""

    name = "sandbox-kernel-relay"
    idempotent = True

    async def start(self, scheduler: Any) -> None:
        self._scheduler = scheduler
        scheduler.handlers[RELAY] = self.relay

    async def relay(self, comm: Any, worker: str, **hello: Any) -> Any:
        if worker not in self._scheduler.workers:  # connects to nobody else
            comm.abort()
            return None
        far = await connected(worker, _CONNECT_SECONDS, self._scheduler.connection_args)
        try:
            await far.write({"op": CHANNEL, "reply": False, **hello})
            await comm.write(await far.read())  # its fingerprint; all that follows is bytes
            pumps = [_pump(comm.stream, far.stream), _pump(far.stream, comm.stream)]
            both = list(map(asyncio.ensure_future, pumps))
            await asyncio.wait(both, return_when=asyncio.FIRST_COMPLETED)
        finally:
            far.abort()
            comm.abort()
        return None


async def _pump(source: Any, target: Any) -> None:
    """Waits for each write, so that nothing piles up here."""
    try:
        while True:
            await target.write(await source.read_bytes(_CHUNK, partial=True))
    except StreamClosedError:
        pass
