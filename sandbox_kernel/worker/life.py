"""A worker's life: lock down, say so, wait for the order, run it. And its rehearsal, with an order of ours.

The zygote rehearses first: what is made only once, such as functions of the binding and specialised
bytecode, is shared by all workers from then on. A worker that waits rehearses again, because code
and data that a process has not touched yet are slow to reach, the more so under a hypervisor.
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

_IDLE_MILLISECONDS = 20  # without an order, after which a worker takes the time to prepare
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
    interactive=False,
    demand_export=True,
    values="",
    seed=bytes(8),
)
_REHEARSED_FRAME = b"".join(pack(messages.RUN, 0, 0, _REHEARSED.pack()))


class Life:
    """Made in the zygote, with all that it needs, and led in a fork of it.

    The socket to the host has the same number in every worker, so that all about it is made once.
    """

    def __init__(self) -> None:
        self.socket, self._nobody = socket.socketpair()
        self._arrival = select.poll()
        self._arrival.register(self.socket, select.POLLIN)
        self._channel = Channel()
        self._channel.connect(self.socket)
        self._realm = Realm(Compiler(), self._channel)

    def connect(self, descriptor: int) -> None:
        """The socket is this one from now on."""
        os.dup2(descriptor, self.socket.fileno())
        os.close(descriptor)

    def disconnect(self) -> None:
        os.dup2(self._nobody.fileno(), self.socket.fileno())

    def lead(
        self, lockdown: Lockdown, prepare: Callable[[], None], *, for_real: bool = True
    ) -> None:
        """Runs one order; returns once its result is sent. `prepare` is called if there is time."""
        lockdown.complete(for_real=for_real)
        channel = self._channel
        channel.post(messages.READY, lockdown.level, messages.VERSION)
        channel.flush()
        if not self._arrival.poll(_IDLE_MILLISECONDS):
            prepare()  # under load, throughput matters more
        self._realm.run(channel.receive_order())

    def linger(self) -> None:
        """The host ends a worker when it has read what it said."""
        while True:
            self._channel.receive()

    def rehearse(self, lockdown: Lockdown) -> socket.socket:
        """Once, without a host; what it would have heard is in the socket returned."""
        host, worker = socket.socketpair()
        self.connect(worker.detach())
        host.sendall(_REHEARSED_FRAME)
        self.lead(lockdown, lambda: None, for_real=False)
        return host

    def rehearse_the_run(self) -> None:
        """Once, in a worker, which has no socket but its host's."""
        self._channel.connect(_Stage())
        self._realm.run(self._channel.receive_order())


class _Stage:
    """A socket that has the order to give and takes whatever is said to it."""

    def recv_into(self, room: memoryview, count: int, flags: int) -> int:
        room[: len(_REHEARSED_FRAME)] = _REHEARSED_FRAME
        return len(_REHEARSED_FRAME)

    def sendall(self, data: bytes) -> None:
        pass
