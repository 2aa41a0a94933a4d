"""A worker that speaks the protocol but is not ours: a script of bytes on the other end of a real
socket, in a thread, facing a real Conversation on a real event loop.
"""

from __future__ import annotations

import asyncio
import fcntl
import json
import socket
import sys
import termios
import threading
from collections.abc import Callable
from typing import Any

from sandbox_kernel.backend import ActiveCode, Lent, Listener
from sandbox_kernel.contract import CodeExecutionResult
from sandbox_kernel.engine.conversation import Conversation
from sandbox_kernel.engine.places import Nest
from sandbox_kernel.engine.settings import Settings
from sandbox_kernel.engine.taker import Taker
from sandbox_kernel.engine.worker import Worker
from sandbox_kernel.run import run_code
from sandbox_kernel.wire import messages
from sandbox_kernel.wire.control import EXITED, Record
from sandbox_kernel.wire.frame import Buffer, FrameReader, pack
from sandbox_kernel.wire.order import Order
from tests.relaying import RelayBackend
from tests.waiting import until

LIMITS = Settings(
    default_memory_limit_bytes=64 * 2**20,
    output_bytes=64 * 2**20,
    message_bytes=16 * 2**20,
    cpu_seconds=10,
    calls_in_flight=1000,
    require_isolation=True,
)
RELAYED = False  # whether impostors are elsewhere, behind a relay: tests/elsewhere.py sets it


class Peer:
    """The attacker's end of the socket."""

    def __init__(self, connection: socket.socket) -> None:
        self.socket = connection
        self._reader = FrameReader((1 << 32) - 1)
        self._frames: list[Any] = []

    def send(self, *frames: bytes) -> None:
        self.socket.sendall(b"".join(frames))

    def until_read(self) -> None:
        """Waits until the host has taken every byte that was sent."""
        assert until(lambda: not _unread(self.socket))

    def receive(self) -> Any:
        while not self._frames:
            count = self.socket.recv_into(self._reader.room())
            if not count:
                raise ConnectionError("the host hung up")
            self._frames = list(self._reader.feed(count))
        return self._frames.pop(0)


def _unread(connection: socket.socket) -> int:
    """Bytes on their way to the other end, as Linux counts them."""
    return int.from_bytes(fcntl.ioctl(connection, termios.TIOCOUTQ, bytes(4)), sys.byteorder)


def frame(kind: int, text: bytes | str = b"", a: int = 0, b: int = 0, *binary: bytes) -> bytes:
    data = text.encode() if isinstance(text, str) else text
    return b"".join(map(bytes, pack(kind, a, b, data, binary)))


def ready() -> bytes:
    return frame(messages.READY, a=messages.FILTERED, b=messages.VERSION)


def value(kind: int, given: Any, a: int = 0, b: int = 0) -> bytes:
    return frame(kind, "P" + json.dumps(given), a, b)


def finished(given: Any = "done") -> bytes:
    return value(messages.FINISHED, given)


class _Held(Worker):
    """Killing a thread means hanging up on it."""

    def kill(self) -> None:
        try:
            self.socket.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass

    def limit_address_space(self, extra: int) -> list[Buffer]:
        """It has none of its own."""
        return []


def _nothing(_ended: Conversation) -> None:
    """The impostor keeps no place for it."""


class Impostor:
    """A backend whose workers follow `script`, which gets the Peer; then they hang up."""

    def __init__(self, script: Callable[[Peer], None], limits: Settings = LIMITS) -> None:
        self._script = script
        self._limits = limits
        self.problem: BaseException | None = None
        self.exited = threading.Event()

    def start(
        self, order: Order, lent: Lent, listener: Listener, loop: asyncio.AbstractEventLoop
    ) -> ActiveCode:
        if RELAYED:
            relay = RelayBackend(self, self._limits)
            return relay.start(order, lent, listener, loop)
        worker = self._begin()
        conversation = Conversation(order, lent, listener, loop, self._limits, Nest(), _nothing)
        conversation.attach(worker)
        return conversation

    def _begin(self) -> Worker:
        ours, theirs = socket.socketpair()
        ours.setblocking(False)
        worker = _Held(ours, 0, None)
        threading.Thread(target=self._play, args=(theirs, worker), daemon=True).start()
        return worker

    def hand_out(self, taker: Taker, parent: Nest | None = None) -> None:
        """What a relay asks of a pool."""
        assert taker.attach(self._begin())

    def release(self, taker: Taker) -> None:
        """It keeps no place for it."""

    def _play(self, connection: socket.socket, worker: Worker) -> None:
        with connection:
            peer = Peer(connection)
            try:
                assert peer.receive().kind == messages.RUN
                self._script(peer)
                while True:
                    peer.receive()
            except OSError:
                pass
            except BaseException as problem:
                self.problem = problem
        worker.exited(Record(EXITED, 0, 0, 0))
        self.exited.set()


def face(*sent: bytes, limits: Settings = LIMITS, **options: Any) -> CodeExecutionResult:
    """The result of a run whose worker says just this."""
    return play(lambda peer: peer.send(*sent), limits, **options)


def play(
    script: Callable[[Peer], None], limits: Settings = LIMITS, **options: Any
) -> CodeExecutionResult:
    impostor = Impostor(script, limits)
    options.setdefault("report", lambda value: None)
    result = run_code("", engine=impostor, **options).wait(30)
    if impostor.problem is not None:
        raise impostor.problem
    return result


def is_crash(result: CodeExecutionResult) -> bool:
    return (
        result.status == "error"
        and result.error is not None
        and result.error.name == "SandboxCrash"
    )
