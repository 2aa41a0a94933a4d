"""Relay: takes a worker of this machine, and lends it to a conversation elsewhere, unread.

Beside it there is a pool; at the other end of the channel, a `DistantWorker`. Whoever owns the channel
closes the relay with it, so that no worker outlives its user.
"""

from __future__ import annotations

import asyncio
import select
import socket
from collections.abc import Callable

from ..contract import CodeExecutionError
from ..errors import ProtocolError, SandboxError
from ..loops import on_loop
from ..wire import messages
from ..wire.control import Record
from ..wire.frame import HEAD
from . import packets
from .carrier import Carrier
from .line import EXIT_NOTICE_SECONDS
from .pool import WorkerPool
from .worker import Worker
from .zygote import filters_system_calls


class Relay:
    """A pool's taker. Lives on the channel's loop, and calls `send` there."""

    def __init__(
        self, pool: WorkerPool, loop: asyncio.AbstractEventLoop, send: Callable[[bytes], None]
    ) -> None:
        self.loop = loop
        self._pool = pool
        self._send = send
        self._carrier = Carrier(loop, self._say, self._hung_up, self._growth)
        self._worker: Worker | None = None
        self._address_space = 0
        self._asked = self._killed = self._exited = self._closed = False

    # -- what comes through the channel

    def received(self, packet: bytes) -> None:
        """Raises ProtocolError for a packet that makes no sense: close the channel then."""
        kind = packets.kind_of(packet)
        if self._closed:
            return
        if kind == packets.DATA:
            self._carrier.write(packets.read_data(packet)[1])
        elif kind == packets.TAKEN:
            self._carrier.taken(packets.read_taken(packet))
        elif kind == packets.LEND:
            self._lend(*packets.read_lend(packet))
        elif kind == packets.KILL:
            self._kill()
        else:
            raise ProtocolError(f"a packet of kind {kind}")

    def _lend(self, isolation: int, address_space: int) -> None:
        if self._asked:
            raise ProtocolError("a second worker is asked for")
        self._asked, self._address_space = True, address_space
        if isolation >= messages.FILTERED and not filters_system_calls():
            self._tell(packets.FAILED, f"no system-call filter on {socket.gethostname()}")
            return
        try:
            self._pool.hand_out(self)
        except SandboxError as error:
            self._tell(packets.FAILED, str(error))

    def _kill(self) -> None:
        self._killed = True
        if self._worker is not None:
            self._worker.kill()
        else:  # it waits in a queue, perhaps for long
            self._say(packets.exited(None))
            self.close()

    # -- what the pool asks of a taker

    def attach(self, worker: Worker) -> bool:
        """On the channel's loop, where it asked for the worker."""
        if self._closed or _is_dead(worker):
            return False
        worker.send(b"".join(worker.limit_address_space(self._address_space)))
        self._worker = worker
        self._say(bytes([packets.LENT]))
        self._carrier.begin(worker.socket)
        return True

    def terminate(self, reason: str | None) -> None:
        self.abandon(reason or "terminated on the machine that ran it")

    def abandon(self, message: str) -> None:
        self._from_any_thread(packets.ENDED, message)

    def fail(self, error: CodeExecutionError) -> None:
        self._from_any_thread(packets.FAILED, error.message)

    def is_stuck(self) -> bool:
        """READY it has said before."""
        worker = self._worker
        return worker is not None and self._carrier.sent <= HEAD.size and worker.is_stopped()

    def handle(self) -> None:
        return None

    # -- the worker's end, and the relay's

    def _growth(self) -> int:
        return (self._worker.growth() or 0) if self._worker is not None else 0

    def _hung_up(self) -> None:
        assert self._worker is not None
        self._worker.when_exited(self._exited_elsewhere)
        self.loop.call_later(EXIT_NOTICE_SECONDS, self._report_exit, None)

    def _exited_elsewhere(self, record: Record | None) -> None:
        """On the zygote's thread."""
        try:
            on_loop(self.loop, self._report_exit, record)
        except RuntimeError:
            pass  # the channel's loop is closed

    def _report_exit(self, record: Record | None) -> None:
        if not self._exited:
            self._exited = True
            self._say(packets.exited(record))

    def _from_any_thread(self, kind: int, message: str) -> None:
        try:
            on_loop(self.loop, self._tell, kind, message)
        except RuntimeError:
            self._release()  # the channel's loop is closed

    def _tell(self, kind: int, message: str) -> None:
        self._say(packets.text(kind, message))
        self.close()

    def _say(self, packet: bytes) -> None:
        if not self._closed:
            self._send(packet)

    def close(self) -> None:
        """Ends the worker, whatever it is doing. Idempotent."""
        if not self._closed:
            self._closed = True
            self._carrier.close()
            self._release()

    def _release(self) -> None:
        self._closed = True
        if self._worker is not None:
            self._worker.close()
        self._pool.release(self)


def _is_dead(worker: Worker) -> bool:
    """Its end of the socket is closed then, whatever it has said before."""
    poll = select.poll()
    poll.register(worker.descriptor, 0)
    return bool(poll.poll(0))
