"""Workers that are lent to engines elsewhere: a `ServiceEngine` talks to them, unread by the service."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable

from ..engine import packets
from ..engine.pool import WorkerPool
from ..engine.relay import Relay
from ..engine.worker import address_space
from ..errors import ProtocolError
from ..wire import messages

LONGEST_PACKET = packets.LARGEST + 64
_NO_WORKER = "the service could not provide a worker; its log says why"
_log = logging.getLogger("sandbox_kernel.service")


def heard(sending: asyncio.Future[None]) -> None:
    """What could not be sent is no news: the connection is closed, and both ends are told."""
    if not sending.cancelled():
        sending.exception()


class LentWorker:
    """One of them, on the service's loop; `on_end` is called once."""

    def __init__(
        self,
        pool: WorkerPool,
        most_memory: int,
        send: Callable[[bytes], None],
        on_end: Callable[[LentWorker], None],
    ) -> None:
        self._send = send
        self._on_end = on_end
        self._most = address_space(most_memory, pool.settings.message_bytes)
        self._relay = Relay(pool, asyncio.get_running_loop(), self._say)
        self._closed = False

    def received(self, packet: bytes) -> bool:
        """Whether it made sense; if not, close the connection."""
        try:
            self._relay.received(self._bounded(packet))
        except ProtocolError:
            return False
        return True

    def _bounded(self, packet: bytes) -> bytes:
        """The memory of a worker is decided here, and so is that it is isolated."""
        if packets.kind_of(packet) != packets.LEND:
            return packet
        isolation, asked = packets.read_lend(packet)
        return packets.lend(max(isolation, messages.FILTERED), min(asked, self._most))

    def _say(self, packet: bytes) -> None:
        if packet[0] == packets.FAILED:  # it may name what is the host's business
            _log.warning("a worker could not be lent: %s", packets.read_text(packet))
            packet = packets.text(packets.FAILED, _NO_WORKER)
        self._send(packet)

    def end(self, reason: str) -> None:
        self._relay.terminate(reason)

    def close(self) -> None:
        """The connection is gone, and the worker goes with it. Idempotent."""
        if not self._closed:
            self._closed = True
            self._relay.close()
            self._on_end(self)
