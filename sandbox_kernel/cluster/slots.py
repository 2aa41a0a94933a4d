"""On a Dask worker: pools of sandboxes, and the slots that engines far away hold there.

A slot is a Dask task: the right to one sandbox at a time on the worker that the scheduler chose. The
first such task adds the plugin, so that workers may come and go without anybody registering anything.
"""

from __future__ import annotations

import asyncio
from typing import Any, NamedTuple

from distributed import get_worker
from distributed.diagnostics.plugin import WorkerPlugin
from tornado.iostream import StreamClosedError

from ..engine.pool import WorkerPool
from ..engine.relay import Relay
from ..engine.settings import Settings
from ..errors import EngineError, ProtocolError
from . import channel as wire
from .channel import Channel
from .fingerprint import fingerprint, here

NAME = "sandbox-kernel"
CHANNEL = "sandbox_kernel_channel"
_AT_ONCE = 100_000  # sandboxes; Dask's threads are the limit, and riders
_MOST_POOLS = 4  # with different settings, unless more are in use
_ENDED = ("cancelled", "released", "forgotten")


class Wanted(NamedTuple):
    """What an engine wants of the sandboxes of its slots."""

    spares: int
    cpu_seconds: int


class Sandboxes(WorkerPlugin):
    """The pools of one Dask worker, and the engines' channels to it. Lives on Dask's loop."""

    name = NAME
    idempotent = True

    def setup(self, worker: Any) -> None:
        self.worker = worker
        self.loop: asyncio.AbstractEventLoop = worker.loop.asyncio_loop
        self._pools: dict[Wanted, WorkerPool] = {}  # the one used last is the last
        self._channels: dict[str, asyncio.Future[Channel]] = {}
        self._slots: dict[tuple[str, int], Slot] = {}
        self._keys: dict[str, Slot] = {}
        worker.handlers[CHANNEL] = self.channel

    def teardown(self, worker: Any) -> None:
        worker.handlers.pop(CHANNEL, None)
        for slot in [*self._slots.values(), *self._keys.values()]:
            slot.close()
        for pool in self._pools.values():
            pool.close()

    def pool(self, wanted: Wanted) -> WorkerPool:
        """A zygote is born with its limit of processor time, so engines that differ share none."""
        pool = self._pools.pop(wanted, None)
        if pool is None:
            self._close_idle_pools()
            pool = WorkerPool(Settings(**wanted._asdict(), concurrency=_AT_ONCE))
            pool.warm_up()
        self._pools[wanted] = pool
        return pool

    def _close_idle_pools(self) -> None:
        idle = [wanted for wanted, pool in self._pools.items() if not pool.executing]
        for wanted in idle[: max(0, len(self._pools) - _MOST_POOLS + 1)]:
            self._pools.pop(wanted).close()

    def transition(self, key: Any, start: str, finish: str, **_: Any) -> None:
        """Dask itself lets a cancelled task go on: this is where its sandbox ends."""
        if finish in _ENDED and key in self._keys:
            self._keys[key].close()

    async def channel(self, comm: Any, engine: str, mark: Any, patience: float) -> Any:
        """An engine has connected: served until it is gone, and nothing of it outlives that."""
        mine = fingerprint()
        await comm.write(mine)
        if list(mark) != mine:
            self._expected(engine).set_exception(EngineError(f"this worker has {here()}"))
            return None
        try:
            channel = await Channel.over(comm, engine)
        except ProtocolError as error:
            self._expected(engine).set_exception(EngineError(str(error)))
            return None
        except StreamClosedError:
            return None  # it will be asked again
        expected = self._expected(engine)
        expected.set_result(channel)
        try:
            await channel.serve(
                lambda kind, slot, run, packet: self._handle(engine, kind, slot, run, packet),
                2 * patience,
            )
        finally:
            if self._channels.get(engine) is expected:
                del self._channels[engine]
            for slot in [slot for (owner, _), slot in self._slots.items() if owner == engine]:
                slot.close()
        return None

    def _expected(self, engine: str) -> asyncio.Future[Channel]:
        """What the next channel of that engine fulfils."""
        found = self._channels.get(engine)
        if found is None or found.done():
            found = self._channels[engine] = self.loop.create_future()
        return found

    async def open(
        self, wanted: Wanted, engine: str, ident: int, key: str, patience: float
    ) -> Slot:
        """A slot that its engine knows of; or one that is over, if its task was cancelled meanwhile."""
        self.pool(wanted)
        slot = self._keys[key] = Slot(self, wanted, engine, ident, key)
        found = self._channels.get(engine) or self._expected(engine)
        waited = 0
        while not found.done() and not slot.over.done():
            if waited > patience:
                slot.close()
                raise EngineError(f"its engine did not connect within {patience:g} s")
            # More than once, because the scheduler that passes it on may have been restarted.
            self.worker.log_event(engine, {"connect": self.worker.address})
            either: list[asyncio.Future[Any]] = [found, slot.over]
            await asyncio.wait(either, timeout=1, return_when=asyncio.FIRST_COMPLETED)
            waited += 1
        if not slot.over.done():
            try:
                slot.begin(found.result())
            except EngineError:
                slot.close()
                self._channels.pop(engine, None)
                raise
            self._slots[engine, ident] = slot
        return slot

    def _handle(self, engine: str, kind: int, ident: int, run: int, packet: bytes) -> None:
        slot = self._slots.get((engine, ident))
        if slot is not None:
            slot.handle(kind, run, packet)

    def ride(self, wanted: Wanted, engine: str, ident: int, channel: Channel) -> Slot:
        """For a run that another one's bridge began, and waits for."""
        rider = self._slots[engine, ident] = Slot(self, wanted, engine, ident, "")
        rider.begin(channel)
        return rider

    def forget(self, engine: str, ident: int, key: str) -> None:
        self._slots.pop((engine, ident), None)
        self._keys.pop(key, None)


class Slot:
    """The right to one sandbox at a time, held for an engine."""

    def __init__(
        self, plugin: Sandboxes, wanted: Wanted, engine: str, ident: int, key: str
    ) -> None:
        self.over: asyncio.Future[None] = plugin.loop.create_future()
        self._plugin, self._wanted = plugin, wanted
        self._engine, self._ident, self._key = engine, ident, key
        self._channel: Channel | None = None
        self._run = -1
        self._relay: Relay | None = None
        self._riders: list[Slot] = []

    def begin(self, channel: Channel) -> None:
        self._channel = channel
        channel.send(wire.OPENED, self._ident)

    def handle(self, kind: int, run: int, packet: bytes) -> None:
        if kind == wire.RELEASE:
            self.close()
        elif kind == wire.RIDE and self._channel is not None:
            self._riders = [rider for rider in self._riders if not rider.over.done()]
            self._riders.append(self._plugin.ride(self._wanted, self._engine, run, self._channel))
        elif kind == wire.DROP and run == self._run:
            self._drop()
        elif kind == wire.PACKET:
            self._packet(run, packet)

    def _packet(self, run: int, packet: bytes) -> None:
        if run < self._run:
            return  # of one that has ended
        if run > self._run:
            self._drop()
            self._run = run
            self._relay = self._new_relay(run)
        if self._relay is not None:
            try:
                self._relay.received(packet)
            except ProtocolError:
                self._drop()

    def _new_relay(self, run: int) -> Relay | None:
        channel, ident = self._channel, self._ident
        if channel is None:
            return None

        def send(packet: bytes) -> None:
            channel.send_packet(ident, run, packet)

        return Relay(self._plugin.pool(self._wanted), self._plugin.loop, send)

    def _drop(self) -> None:
        relay, self._relay = self._relay, None
        if relay is not None:
            relay.close()

    def close(self) -> None:
        self._drop()
        for rider in self._riders:
            rider.close()
        self._plugin.forget(self._engine, self._ident, self._key)
        if not self.over.done():
            self.over.set_result(None)


def hold(wanted: tuple[int, int], *slot: Any) -> None:
    """The Dask task: holds a slot until its engine gives it back, dies, or the task is cancelled.

    Its thread only waits: threads are what Dask counts.
    """
    worker: Any = get_worker()
    held = _hold(worker, Wanted(*wanted), *slot)
    asyncio.run_coroutine_threadsafe(held, worker.loop.asyncio_loop).result()


async def _hold(
    worker: Any, wanted: Wanted, engine: str, ident: int, key: str, patience: float
) -> None:
    plugin = await _sandboxes(worker)
    slot = await plugin.open(wanted, engine, ident, key, patience)
    try:
        await slot.over
    finally:
        slot.close()


async def _sandboxes(worker: Any) -> Sandboxes:
    """This Dask worker's, made by the first task that needs them."""
    if NAME not in worker.plugins:
        await worker.plugin_add(Sandboxes(), NAME, catch_errors=False)
    found = worker.plugins[NAME]
    assert isinstance(found, Sandboxes)
    return found
