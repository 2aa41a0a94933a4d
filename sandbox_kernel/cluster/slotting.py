"""Which run gets which slot, how many slots are asked for, and what becomes of those that are lost."""

from __future__ import annotations

import asyncio
import itertools
from collections import deque
from time import monotonic
from typing import Any

from distributed import KilledWorker

from ..engine.distant import worker_lost
from ..engine.ending import terminated
from ..engine.places import Nest
from . import channel as wire
from .channel import Channel
from .connections import Connections
from .fingerprint import here
from .held import HeldSlot, Waiting

_AVOID_SECONDS = 60.0  # a worker that was lost: it may only be stopped
_LOST_SCHEDULER = "scheduler-connection-lost"
# What Dask executes: text. A worker of another Python would die of a pickled function, and one without
# our package of its name; so this is what they can read, and they say what is wrong.
_TASK = "__import__('sandbox_kernel.cluster.slots', fromlist=['hold']).hold(*given)"


class Slotting:
    """Lives on Dask's loop, and so does everything that it knows."""

    def __init__(
        self,
        client: Any,
        *,
        name: str,
        isolation: int,
        most: int | None,
        keep: float,
        slice: float,
        direct: bool | None,
        patience: float,
        pool: tuple[int, int],
        submit: dict[str, Any],
    ) -> None:
        self.loop: asyncio.AbstractEventLoop = client.loop.asyncio_loop
        self._client, self._name, self._isolation = client, name, isolation
        self._most = most
        self._keep, self._slice = keep, slice
        self._patience, self._pool, self._submit = patience, pool, submit
        self._ids = itertools.count(1)
        self._pending: deque[Waiting] = deque()
        self._slots: dict[int, HeldSlot] = {}
        self._free: list[HeldSlot] = []
        self._slot_of: dict[Nest, HeldSlot] = {}
        self._avoid: dict[str, float] = {}
        self._tasks: set[asyncio.Future[Any]] = set()
        self._ticking = self._warming = self._closed = False
        self._connections = Connections(
            client, name, direct, patience, self._on_message, self._on_lost
        )

    def width(self) -> int:
        return min(self._most or 1 << 30, 2 * max(1, self._threads()))

    def reached(self) -> dict[str, str]:
        how = "directly" if self._connections.is_direct else "through the scheduler"
        return dict.fromkeys(list(self._connections.channels), how)

    def _threads(self) -> int:
        """Of the cluster, as the client was told within the last seconds."""
        return int(self._client._scheduler_identity.get("total_threads", 0))

    @property
    def _asked(self) -> int:
        """Slots that Dask has not opened yet."""
        return sum(slot.channel is None for slot in self._slots.values())

    # -- runs

    def queue(self, waiting: Waiting) -> None:
        if waiting.conversation.ended:
            return
        carrier = self._slot_of.get(waiting.parent) if waiting.parent is not None else None
        if self._free and not self._pending:
            self._give(self._free.pop(), waiting)
        elif carrier is not None and carrier.rider is None and carrier.channel is not None:
            self._ride(carrier, waiting)
        else:
            self._pending.append(waiting)
            self._ask()

    def forget(self, waiting: Waiting) -> None:
        """It has ended."""
        self._slot_of.pop(waiting.nest, None)
        if waiting in self._pending:
            self._pending.remove(waiting)
            self._withdraw()

    def warm_up(self) -> None:
        self._warming = True
        self._ask()

    def _give(self, slot: HeldSlot, waiting: Waiting) -> None:
        if slot.idle is not None:
            slot.idle.cancel()
        slot.used = True
        self._slot_of[waiting.nest] = slot
        worker = slot.lend(self.loop, self._isolation, next(self._ids), self._free_again)
        waiting.attach(worker)

    def _ride(self, carrier: HeldSlot, waiting: Waiting) -> None:
        """A run must not wait for the one that waits for it: it is beside that one, at once."""
        rider = HeldSlot(next(self._ids), channel=carrier.channel, on=carrier)
        carrier.rider = self._slots[rider.ident] = rider
        carrier.send(wire.RIDE, rider.ident)
        self._give(rider, waiting)

    # -- slots

    def _ask(self) -> None:
        """As many slots as runs wait for one, but no more ahead than the cluster has threads: other
        clients' tasks are queued behind them."""
        if self._closed:
            return
        if self._client.status not in ("running", "connecting"):
            self._client_closed()
            return
        self._connections.introduce()
        asked = self._asked
        room = min((self._most or 1 << 30) - len(self._slots), max(4, self._threads()) - asked)
        wanted = max(len(self._pending), int(self._warming)) - asked
        for _ in range(min(room, wanted)):
            self._submit_slot()
        if self._asked and not self._ticking:
            self._ticking = True
            self.loop.call_later(1, self._tick)

    def _tick(self) -> None:
        """While slots are awaited: is it still the same scheduler, and has it more threads?"""
        self._ticking = False
        if self._asked and not self._closed:
            self._ask()

    def _submit_slot(self) -> None:
        slot = HeldSlot(next(self._ids))
        self._slots[slot.ident] = slot
        if self._is_avoiding():
            self._run_soon(self._submit_elsewhere(slot))
        else:
            self._submit_to(slot, {})

    def _submit_to(self, slot: HeldSlot, where: dict[str, Any]) -> None:
        key = f"{self._name}-{slot.ident}"
        try:
            given = (self._pool, self._name, slot.ident, key, self._patience)
            slot.future = self._client.submit(
                *(eval, _TASK, {"given": given}),
                **{"key": key, "pure": False, "retries": 0, **self._submit, **where},
            )
        except Exception as error:  # the client was closed meanwhile, or does not like an option
            del self._slots[slot.ident]
            self._fail_pending(str(error))
            return
        self._run_soon(self._watch(slot, slot.future))

    def _is_avoiding(self) -> bool:
        now = monotonic()
        self._avoid = {address: until for address, until in self._avoid.items() if until > now}
        return bool(self._avoid) and self._submit["workers"] is None

    async def _submit_elsewhere(self, slot: HeldSlot) -> None:
        """Not on workers that were lost a moment ago, if there are others."""
        try:
            known = await self._client.scheduler.identity(n_workers=-1)
        except OSError:
            known = {}
        others = [each for each in known.get("workers", {}) if each not in self._avoid]
        if self._slots.get(slot.ident) is slot:
            where = {"workers": others, "allow_other_workers": True} if others else {}
            self._submit_to(slot, where)

    def _withdraw(self) -> None:
        """Slots that Dask has not opened yet and that nobody waits for any more."""
        unopened = [slot for slot in self._slots.values() if slot.channel is None]
        surplus = unopened[max(len(self._pending), int(self._warming)) :]
        for slot in surplus:
            del self._slots[slot.ident]
        self._cancel(surplus)

    def _cancel(self, slots: list[HeldSlot]) -> None:
        futures = [slot.future for slot in slots if slot.future is not None]
        if futures and self._client.status == "running":
            self._run_soon(self._client._cancel(futures, force=True))

    async def _watch(self, slot: HeldSlot, future: Any) -> None:
        """The channel says all there is to say, unless the task never got as far as that."""
        try:
            await future._state.wait()
        except asyncio.CancelledError:  # Dask's loop ends with its client
            self._client_closed()
            raise
        if self._slots.get(slot.ident) is not slot or slot.future is not future:
            return
        del self._slots[slot.ident]
        status, error = future.status, future._state.exception
        if getattr(error, "reason", "") == _LOST_SCHEDULER:
            self._dropped(slot, "the connection to the Dask scheduler was lost")
        elif status == "cancelled":
            self._cancelled(slot)
        elif isinstance(error, KilledWorker) and self._pending and self._pending[0].retries:
            self._pending[0].retries -= 1
            self._dropped(slot, str(error))
        elif status == "error":
            self._failed(slot, f"{type(error).__name__}: {error}")
        else:
            self._dropped(slot, "the Dask task ended")

    def _cancelled(self, slot: HeldSlot) -> None:
        reason = "the Dask task was cancelled"
        if slot.worker is not None:
            slot.worker.lost(terminated(reason), again=False)
        elif slot.channel is None and self._pending:
            self._pending.popleft().abandon(reason)
        self._discard(slot)
        self._ask()

    def _failed(self, slot: HeldSlot, reason: str) -> None:
        if slot.worker is not None:
            slot.worker.lost(worker_lost(reason))
        elif self._pending:
            problem = self._connections.problem
            because = f"{reason} ({problem})" if problem is not None else reason
            self._pending.popleft().fail(f"no sandbox on the cluster: {because}; here is {here()}")
        self._discard(slot)

    def _dropped(self, slot: HeldSlot, reason: str) -> None:
        if slot.worker is not None:
            slot.worker.lost(worker_lost(reason))
        self._discard(slot)
        self._ask()

    def _discard(self, slot: HeldSlot) -> None:
        if slot in self._free:
            self._free.remove(slot)
        if slot.on is not None and slot.on.rider is slot:
            slot.on.rider = None

    def _fail_pending(self, reason: str) -> None:
        pending, self._pending = self._pending, deque()
        for waiting in pending:
            waiting.fail(f"no sandbox on the cluster: {reason}")

    def _client_closed(self) -> None:
        pending, self._pending = self._pending, deque()
        for waiting in pending:
            waiting.abandon("the Dask client was closed")

    # -- slots that are open

    def _on_message(self, channel: Channel, kind: int, ident: int, run: int, packet: bytes) -> None:
        slot = self._slots.get(ident)
        if kind == wire.PACKET:
            if slot is not None and slot.worker is not None and slot.run == run:
                slot.worker.received(packet)
        elif kind == wire.OPENED:
            self._opened(slot, channel, ident)

    def _opened(self, slot: HeldSlot | None, channel: Channel, ident: int) -> None:
        if slot is None:
            channel.send(wire.RELEASE, ident)
        elif slot.on is None:
            slot.channel, slot.since, self._warming = channel, monotonic(), False
            self._free_again(slot)

    def _free_again(self, slot: HeldSlot) -> None:
        """It goes to the run that has waited longest; or back to Dask, if it had its turn."""
        if self._slots.get(slot.ident) is not slot or slot.channel is None or self._closed:
            return
        if slot.on is not None:
            self._next_rider(slot, slot.on)
            return
        spent = slot.used and (monotonic() - slot.since > self._slice or self._keep <= 0)
        if self._pending and not spent:
            self._give(slot, self._pending.popleft())
        elif spent:
            self._release(slot)
        else:
            self._free.append(slot)
            slot.idle = self.loop.call_later(self._keep, self._release_if_free, slot)
        if self._pending:
            self._ask()
        else:
            self._withdraw()

    def _next_rider(self, rider: HeldSlot, carrier: HeldSlot) -> None:
        """Another nested run of the same one may be waiting."""
        self._release(rider)
        carrier.rider = None
        for waiting in self._pending:
            if waiting.parent is not None and self._slot_of.get(waiting.parent) is carrier:
                self._pending.remove(waiting)
                self._ride(carrier, waiting)
                return

    def _release_if_free(self, slot: HeldSlot) -> None:
        if slot in self._free:
            self._free.remove(slot)
            self._release(slot)

    def _release(self, slot: HeldSlot) -> None:
        self._slots.pop(slot.ident, None)
        slot.send(wire.RELEASE)
        slot.future = None

    def _on_lost(self, channel: Channel) -> None:
        """With every slot on it. Dask would begin their tasks again where it notices; we withdraw
        them and ask anew, elsewhere for a while."""
        lost = [slot for slot in self._slots.values() if slot.channel is channel]
        for slot in lost:
            del self._slots[slot.ident]
        if self._closed:
            return
        if lost:
            self._avoid[channel.address] = monotonic() + _AVOID_SECONDS
        self._cancel(lost)
        for slot in lost:
            if slot.worker is not None:
                slot.worker.lost(worker_lost(f"the Dask worker {channel.address} is gone"))
            self._discard(slot)
        self._ask()

    # -- the end

    def close(self) -> None:
        self._closed = True
        slots, self._slots = list(self._slots.values()), {}
        for slot in slots:
            if slot.idle is not None:
                slot.idle.cancel()
            slot.send(wire.RELEASE)
        self._cancel([slot for slot in slots if slot.channel is None])
        self._free.clear()
        self._pending.clear()
        self.loop.call_soon(self._connections.close)  # after what was sent just now

    def _run_soon(self, work: Any) -> None:
        task = asyncio.ensure_future(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
