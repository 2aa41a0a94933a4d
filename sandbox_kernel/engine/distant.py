"""DistantWorker: a worker elsewhere, as a conversation here knows it.

The conversation has a socket, as with any worker. What it writes there leaves as packets through a
channel, to a `Relay` beside the real worker; what that says comes back the same way, and is decoded
here, as hostile input, like the words of a worker of our own.
"""

from __future__ import annotations

import asyncio
import socket
import threading
from collections.abc import Callable

from ..backend import Outcome
from ..contract import CodeExecutionError
from ..errors import ProtocolError
from ..loops import on_loop
from ..wire import messages
from . import ending, packets
from .carrier import Carrier
from .peer import End, Lost

KILL_PATIENCE = 2.0  # seconds; who does not answer a kill by then does not answer at all


class DistantWorker:
    """Its conversation is on one loop, its channel on another or the same.

        if conversation.attach(worker):
            worker.begin()

    `send` and `on_closed` are called on the channel's loop; there, give what the channel brings to
    `received`, and say `lost` when it breaks.
    """

    lingers = False  # the channel's thread needs the interpreter meanwhile

    def __init__(
        self,
        loop: asyncio.AbstractEventLoop,
        send: Callable[[bytes], None],
        on_closed: Callable[[DistantWorker], None],
        *,
        isolation: int = messages.FILTERED,
    ) -> None:
        self.socket, self._far = socket.socketpair()
        self.socket.setblocking(False)
        self._far.setblocking(False)
        self.descriptor = self.socket.fileno()
        self._loop = loop
        self._send = send
        self._on_closed = on_closed
        self._isolation = isolation
        self._carrier = Carrier(loop, self._send_if_open, on_end=_nothing)
        self._lock = threading.Lock()
        self._asked = self._begun = self._killed = self._closed = False
        self._address_space = 0
        self._on_lent: Callable[[], None] | None = None
        self._grown = 0
        self._timer: asyncio.TimerHandle | None = None
        self._end: tuple[End] | None = None  # once it is known
        self._on_exit: Callable[[End], None] | None = None

    # -- what the conversation asks, on its own thread

    def limit_address_space(self, extra: int) -> tuple[()]:
        self._address_space = extra
        return ()

    def kill(self) -> None:
        with self._lock:
            if self._killed:
                return
            self._killed = True
        self._on_loop(self._kill)

    def growth(self) -> int | None:
        """As of the last word that came from there."""
        return self._grown or None

    def processor_seconds(self) -> float | None:
        """Not known here."""
        return None

    def is_stopped(self) -> bool:
        """The relay's pool looks after that."""
        return False

    def when_exited(self, callback: Callable[[End], None]) -> None:
        with self._lock:
            self._on_exit = callback
            end = self._end
        if end is not None:
            callback(end[0])

    def close(self) -> None:
        self.kill()
        self.socket.close()
        with self._lock:
            if self._closed:
                return
            self._closed = True
        self._on_loop(self._close)

    # -- what its owner asks, on any thread

    def begin(self) -> None:
        """The conversation listens now, and hears everything from here on."""
        self._on_loop(self._begin)

    def ask(self, address_space: int, on_lent: Callable[[], None]) -> None:
        """Before all that, for those whose workers have a queue elsewhere.

        `on_lent` is called on the channel's loop when the wait is over, one way or another.
        """
        self._address_space, self._on_lent = address_space, on_lent
        self._on_loop(self._ask)

    def lost(self, outcome: Outcome, *, again: bool = True) -> None:
        """The channel is gone. What came through it is heard first: the result may be among it."""
        self._on_loop(self._ended, Lost(outcome, again))

    # -- on the channel's loop

    def received(self, packet: bytes) -> None:
        """Whatever the other side sends: a packet that makes no sense ends the run."""
        try:
            self._handle(packet)
        except ProtocolError as error:
            self._ended(
                Lost(worker_lost(f"the relay of the worker broke the protocol: {error}"), False)
            )

    def _handle(self, packet: bytes) -> None:
        kind = packets.kind_of(packet)
        if kind == packets.DATA:
            self._grown, content = packets.read_data(packet)
            self._carrier.write(content)
        elif kind == packets.TAKEN:
            self._carrier.taken(packets.read_taken(packet))
        elif kind == packets.LENT:
            self._lent()
        elif kind == packets.EXITED:
            self._ended(packets.read_exited(packet))
        elif kind == packets.FAILED:
            error = CodeExecutionError("EngineError", packets.read_text(packet))
            self._ended(Lost(Outcome("error", error=error), False))
        elif kind == packets.ENDED:
            self._ended(Lost(ending.terminated(packets.read_text(packet)), False))
        else:
            raise ProtocolError(f"a packet of kind {kind}")

    def _lent(self) -> None:
        on_lent, self._on_lent = self._on_lent, None
        if on_lent is not None:
            on_lent()

    def _ask(self) -> None:
        if not self._asked:
            self._asked = True
            self._send_if_open(packets.lend(self._isolation, self._address_space))

    def _begin(self) -> None:
        self._ask()
        self._begun = True
        self._carrier.begin(self._far)
        if self._end is not None:
            self._carrier.close_after_rest()

    def _kill(self) -> None:
        if self._end is None:
            self._send_if_open(bytes([packets.KILL]))
            self._timer = self._loop.call_later(KILL_PATIENCE, self._ended, None)

    def _ended(self, end: End) -> None:
        with self._lock:
            if self._end is not None:
                return
            self._end = (end,)
            callback = self._on_exit
        if callback is not None:
            callback(end)
        if self._begun:
            self._carrier.close_after_rest()
        self._lent()

    def _close(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
        self._carrier.close()
        self._far.close()
        self._on_closed(self)

    def _send_if_open(self, packet: bytes) -> None:
        if self._end is None:
            self._send(packet)

    def _on_loop(self, function: Callable[..., None], *args: object) -> None:
        try:
            on_loop(self._loop, function, *args)
        except RuntimeError:  # the channel's loop is closed, and with it the channel
            self._far.close()


def worker_lost(reason: str) -> Outcome:
    """How a run ends whose worker elsewhere cannot be reached any more."""
    return Outcome("error", error=CodeExecutionError("WorkerLost", reason))


def _nothing() -> None:
    """The conversation has hung up, and says so itself."""
