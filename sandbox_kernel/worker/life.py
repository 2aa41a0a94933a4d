"""A worker's life: lock down, say so, wait for the job, run it. And its rehearsal, on a job of ours.

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

_UNWANTED_MILLISECONDS = 20  # without a job, after which a worker takes the time to prepare
_SOURCE = "console.log(1); export default 1 as number"
_ORDER = b"".join(
    pack(
        messages.RUN, 0, 0,
        Order(
            _SOURCE, "<host>", "typescript", {}, {}, [], ("console",), "default", 1 << 26,
            False, True, "", bytes(8),
        ).pack(),
    )
)  # fmt: skip


class Life:
    """Made in the zygote, with all that it needs, and led in a fork of it.

    The socket to the host has the same number in every worker, so that all about it is made once.
    """

    def __init__(self) -> None:
        self.socket, self._nobody = socket.socketpair()
        self._job = select.poll()
        self._job.register(self.socket, select.POLLIN)
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
        """Until the result has been sent; `prepare` is called if there is time."""
        lockdown.complete(for_real=for_real)
        channel = self._channel
        channel.post(messages.READY, lockdown.level, messages.VERSION)
        channel.flush()
        if not self._job.poll(_UNWANTED_MILLISECONDS):
            prepare()  # under load, throughput matters more
        self._realm.run(channel.receive_job())

    def linger(self) -> None:
        """The host ends a worker when it has read what it said."""
        while True:
            self._channel.receive()

    def rehearse(self, lockdown: Lockdown) -> socket.socket:
        """Once, without a host; what it would have heard is in the socket returned."""
        host, worker = socket.socketpair()
        self.connect(worker.detach())
        host.sendall(_ORDER)
        self.lead(lockdown, lambda: None, for_real=False)
        return host

    def rehearse_the_run(self) -> None:
        """Once, in a worker, which has no socket but its host's."""
        self._channel.connect(_Stage())
        self._realm.run(self._channel.receive_job())


class _Stage:
    """A socket that has the order to give and takes whatever is said to it."""

    def recv_into(self, room: memoryview, count: int, flags: int) -> int:
        room[: len(_ORDER)] = _ORDER
        return len(_ORDER)

    def sendall(self, data: bytes) -> None:
        pass
