"""A worker's life: lock down, report READY, wait for the order, run it. And a rehearsal of that.

The zygote rehearses first: what is made only once, such as functions of the binding and specialised
bytecode, is then shared by all workers. A worker that has no order yet rehearses again, because the
first access to a page of code or data is slow in every process, especially under a hypervisor.
"""

from __future__ import annotations

import os
import select
import socket
from collections.abc import Callable

from ..wire import messages
from ..wire.frame import pack
from ..wire.order import Order
from .channel import Channel
from .lockdown import Lockdown
from .quickjs import Compiler
from .realm import Realm

_IDLE_MILLISECONDS = 20  # without an order, after which a worker prepares for one
_REHEARSED = Order(
    source="console.log(1); export default 1 as number",
    filename="<host>",
    language="typescript",
    modules={},
    imports={},
    globals=[],
    builtins=("console",),
    fn="default",
    memory_limit=1 << 26,
    lenient=False,
    demand_export=True,
    values="",
    seed=bytes(8),
)
_REHEARSED_FRAME = b"".join(pack(messages.RUN, 0, 0, _REHEARSED.pack()))


class Life:
    """Made in the zygote with everything it needs; run in a worker forked from it.

    The socket to the host has the same descriptor in every worker, so that it is set up once.
    """

    def __init__(self) -> None:
        self.socket, self._placeholder = socket.socketpair()
        self._poll = select.poll()
        self._poll.register(self.socket, select.POLLIN)
        self._channel = Channel()
        self._channel.connect(self.socket)
        self._realm = Realm(Compiler(), self._channel)

    def connect(self, descriptor: int) -> None:
        """Connects `socket` to what this descriptor is connected to, and closes the descriptor."""
        os.dup2(descriptor, self.socket.fileno())
        os.close(descriptor)

    def disconnect(self) -> None:
        os.dup2(self._placeholder.fileno(), self.socket.fileno())

    def run(
        self, lockdown: Lockdown, prepare: Callable[[], None], *, for_real: bool = True
    ) -> None:
        """Runs one order; returns once its result is sent. Calls `prepare` if the order is late."""
        lockdown.complete(for_real=for_real)
        channel = self._channel
        channel.post(messages.READY, lockdown.level, messages.VERSION)
        channel.flush()
        if not self._poll.poll(_IDLE_MILLISECONDS):
            prepare()  # not under load, when orders come at once and it would only delay them
        self._realm.run(channel.receive_order())

    def wait_for_the_end(self) -> None:
        """Blocks until the host, which has read everything, ends this worker."""
        while True:
            self._channel.receive()

    def rehearse(self, lockdown: Lockdown) -> socket.socket:
        """Runs the rehearsed order without a host; returns the socket that has what it sent."""
        host, worker = socket.socketpair()
        self.connect(worker.detach())
        host.sendall(_REHEARSED_FRAME)
        self.run(lockdown, lambda: None, for_real=False)
        return host

    def rehearse_run(self) -> None:
        """Rehearses in a worker, which cannot make another socket."""
        self._channel.connect(_RehearsalSocket())
        self._realm.run(self._channel.receive_order())


class _RehearsalSocket:
    """Delivers the rehearsed order and discards what is sent."""

    def recv_into(self, room: memoryview, count: int, flags: int) -> int:
        room[: len(_REHEARSED_FRAME)] = _REHEARSED_FRAME
        return len(_REHEARSED_FRAME)

    def sendall(self, data: bytes) -> None:
        pass
