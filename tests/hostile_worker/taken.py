"""Runs beyond the wall: the order of birth of a real worker, then the attacker's Python.

The zygote loads this in place of its own `main`; nothing else differs. The attack sees `channel`
(the socket, with the real frames), `libc` for raw system calls, and may `answer(value)`.
"""

from __future__ import annotations

import ctypes
import errno
import json
import os
import socket
import struct
from typing import Any, NoReturn

from sandbox_kernel.wire import messages
from sandbox_kernel.wire.order import Order
from sandbox_kernel.worker import __main__ as birth
from sandbox_kernel.worker.channel import Channel

_TOOLS = {"ctypes": ctypes, "errno": errno, "json": json, "os": os, "socket": socket}
_TOOLS |= {"struct": struct, "messages": messages}


class Taken(birth.Zygote):
    def __init__(self, control: socket.socket, cpu_seconds: int) -> None:
        super().__init__(control, cpu_seconds)
        self._memory = _own_memory()

    def _be_worker(self) -> NoReturn:
        libc = ctypes.CDLL(None, use_errno=True)
        libc.syscall.restype = ctypes.c_long
        channel = Channel()
        channel.connect(self._life.socket)
        self._lockdown.complete()
        channel.post(messages.READY, self._lockdown.level, messages.VERSION)
        order = Order.unpack(bytes(channel.receive_order().text))

        def answer(value: Any) -> NoReturn:
            channel.post(messages.FINISHED, 0, 0, b"P" + json.dumps(value).encode())
            channel.flush()
            while True:
                channel.receive()

        def call(number: int, *args: Any) -> tuple[int, int]:
            """A raw system call: what it returned, and errno."""
            ctypes.set_errno(0)
            returned = libc.syscall(ctypes.c_long(number), *args)
            return returned, ctypes.get_errno()

        names = {"channel": channel, "libc": libc, "answer": answer, "call": call, "order": order}
        names |= {"descriptor": self._life.socket.fileno(), "memory": self._memory}
        try:
            exec(order.source, names | _TOOLS)
        except BaseException as error:
            channel.post(messages.REPORT, 0, 0, b"P" + json.dumps(repr(error)).encode())
            channel.flush()
        os._exit(0)


def _own_memory() -> bytes:
    """What the zygote can read of itself, and with it every worker that it forks."""
    found = bytearray()
    with open("/proc/self/maps") as maps, open("/proc/self/mem", "rb", 0) as memory:
        for line in maps:
            span, rights, *_ = line.split()
            start, end = (int(part, 16) for part in span.split("-"))
            if not rights.startswith("rw") or end - start > 1 << 27:
                continue
            memory.seek(start)
            found += memory.read(end - start) or b""
    return bytes(found)


def main(control_descriptor: int, cpu_seconds: int) -> None:
    birth.Zygote = Taken  # type: ignore[misc, assignment]  # that is the attack
    birth.main(control_descriptor, cpu_seconds)
