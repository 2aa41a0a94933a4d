"""The connections of one engine to Dask workers: made when a slot there asks for one."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

from distributed.comm.core import CommClosedError

from ..errors import ProtocolError
from .channel import Channel, connected
from .fingerprint import described, fingerprint, here
from .scheduler import RELAY, Relaying
from .slots import CHANNEL

_TRY_SECONDS, _CONNECT_SECONDS = 3, 30


class Connections:
    """Lives on Dask's loop. Dask workers ask by an event that names nothing but their address."""

    def __init__(
        self,
        client: Any,
        name: str,
        direct: bool | None,
        patience: float,
        on_message: Callable[[Channel, int, int, int, bytes], None],
        on_lost: Callable[[Channel], None],
    ) -> None:
        self._client, self._name = client, name
        self._direct, self._patience = direct, patience
        self._on_message, self._on_lost = on_message, on_lost
        self.channels: dict[str, Channel] = {}
        self._tasks: dict[str, asyncio.Task[None]] = {}
        self._known: Any = None  # the scheduler that knows of us
        self._relaying: Any = None  # the scheduler that relays for us
        self.problem: str | None = None  # with the last attempt

    @property
    def is_direct(self) -> bool:
        return self._direct is not False

    def introduce(self) -> None:
        """To the scheduler; one that was restarted knows nothing of us."""
        ident = self._client._scheduler_identity.get("id")
        if ident != self._known:
            self._known = ident
            self._client.subscribe_topic(self._name, self._asked)

    def _asked(self, event: Any) -> None:
        address = event[1]["connect"]
        if address not in self._tasks:
            self._tasks[address] = asyncio.ensure_future(self._serve(address))

    async def _serve(self, address: str) -> None:
        try:
            channel = await Channel.over(await self._connect(address), address)
        except _Mismatch:
            del self._tasks[address]  # the task there says so
            return
        except (OSError, CommClosedError, ProtocolError) as error:
            self.problem = str(error)  # the task there gives up waiting
            del self._tasks[address]
            return
        self.channels[address] = channel
        try:
            await channel.serve(
                lambda kind, slot, run, packet: self._on_message(channel, kind, slot, run, packet),
                self._patience,
            )
        finally:
            del self.channels[address], self._tasks[address]
            self._on_lost(channel)

    async def _connect(self, address: str) -> Any:
        hello = {"engine": self._name, "mark": fingerprint(), "patience": self._patience}
        arguments = self._client.connection_args
        if self.is_direct:
            seconds = _CONNECT_SECONDS if self._direct else _TRY_SECONDS
            try:
                comm = await connected(address, seconds, arguments)
            except OSError:
                if self._direct:
                    raise
                self._direct = False
            else:
                await comm.write({"op": CHANNEL, "reply": False, **hello})
                return await _agreed(comm, address)
        await self._teach_scheduler()
        comm = await connected(self._client.scheduler.address, _CONNECT_SECONDS, arguments)
        await comm.write({"op": RELAY, "reply": False, "worker": address, **hello})
        return await _agreed(comm, address)

    async def _teach_scheduler(self) -> None:
        if self._relaying != self._known:
            self._relaying = self._known
            plugin = Relaying()
            try:
                await self._client._register_scheduler_plugin(plugin, plugin.name, idempotent=True)
            except Exception as error:  # whatever its unpickling raises there
                self._relaying = None
                kind = type(error).__name__
                raise ProtocolError(
                    f"the scheduler cannot relay: {kind}: {error!s:.300}"
                ) from error

    def close(self) -> None:
        if self._client.status == "running":
            self._client.unsubscribe_topic(self._name)
        for channel in list(self.channels.values()):
            channel.abort()
        for task in list(self._tasks.values()):
            task.cancel()


async def _agreed(comm: Any, address: str) -> Any:
    theirs = await comm.read()
    if list(theirs) != fingerprint():
        comm.abort()
        raise _Mismatch(f"{address} has {described(theirs)}; here is {here()}")
    return comm


class _Mismatch(ProtocolError):
    """Both sides know what the other one has."""
