"""The line to one worker: frames in, frames out, its memory, and word of its end."""

from __future__ import annotations

import asyncio
import contextvars
from collections.abc import Iterator
from math import inf
from time import monotonic
from typing import Protocol

from ..wire import messages
from ..wire.frame import HEAD, Frame, FrameReader, pack, size_of
from .outbox import Outbox
from .peer import End, Peer
from .settings import Settings
from .worker import memory_of_messages

_SECONDS_PER_TURN = 0.01  # a worker that talks without end leaves the loop to others in between
EXIT_NOTICE_SECONDS = 2.0  # between the end of a stream and word of how the worker ended
READY = {  # as a worker of each isolation level says it
    level: b"".join(pack(messages.READY, level, messages.VERSION))
    for level in messages.ISOLATION_NAMES
}


class Party(Protocol):
    """Who speaks on the line; all but `ended` is called on the loop."""

    @property
    def ended(self) -> bool:
        """Nothing more is to be heard."""

    @property
    def stopping(self) -> bool:
        """It killed the worker itself, and need not be told how that ended."""

    def hear(self, frame: Frame) -> Iterator[None] | None:
        """What is left to do, step by step, if that takes longer than a message should.

        It may raise ProtocolError, or anything else, which then goes to `broken`.
        """

    def broken(self, error: Exception) -> None:
        """What came could not be understood."""

    def overflowed(self) -> None:
        """The worker does not take what it is sent."""

    def gone(self, end: End, cut_short: bool) -> None:
        """The worker has ended; `end` says how, if anybody knows."""


class Pace(Protocol):
    """When to look for more at once, and when to let answers leave first: `Calls` knows."""

    begun: int
    linger_until: float


class Line:
    """Made when a worker is there; lives on the run's loop."""

    _context: contextvars.Context
    _pace: Pace

    def __init__(
        self, loop: asyncio.AbstractEventLoop, peer: Peer, party: Party, settings: Settings
    ) -> None:
        self._loop = loop
        self._peer = peer
        self._party = party
        self._reader = FrameReader(settings.message_bytes)
        self._outbox = outbox = Outbox(loop, peer.socket, settings.output_bytes, party.overflowed)
        self.post, self.post_answer = outbox.post, outbox.post_answer
        self._largest_received = 0
        self._work: Iterator[None] | None = None  # that takes several turns of the loop
        self._gone = False

    def read_ready(self, expected: bytes) -> bool | None:
        """Reads the READY frame that a spare has already sent, without waiting for the loop.

        True if it is as expected, None if it is yet to be heard, False if the worker is dead.
        """
        try:
            said = self._peer.socket.recv(HEAD.size)
        except BlockingIOError:
            return None
        except OSError:
            return False
        if said == expected:
            return True
        if said:
            self._reader.room()[: len(said)] = said
            self._take(self._reader.feed(len(said)), inf)
        return None if said else False

    def listen(self, context: contextvars.Context, pace: Pace) -> None:
        self._context, self._pace = context, pace
        self._listen()

    def _listen(self) -> None:
        self._loop.add_reader(self._peer.descriptor, self._context.run, self._on_readable)

    def _on_readable(self) -> None:
        pace = self._pace
        enough, begun = monotonic() + _SECONDS_PER_TURN, pace.begun
        while not self._party.ended and self._work is None:
            try:
                count = self._peer.socket.recv_into(self._reader.room())
            except BlockingIOError:
                if self._peer.lingers and monotonic() < pace.linger_until:
                    continue
                return
            except OSError:
                count = 0
            if not count:
                self._end_of_stream()
                return
            self._take(self._reader.feed(count), enough)
            if monotonic() > enough or pace.begun != begun:
                return  # the guest has use for first answers while later calls are made

    def _take(self, frames: Iterator[Frame], enough: float) -> None:
        """As long as there is time; the rest is done in later turns of the loop."""
        work = self._hear_all(frames)
        if self._is_done(work, enough):
            return
        self._work = work
        self._loop.remove_reader(self._peer.descriptor)
        self._loop.call_soon(self._go_on)

    def _go_on(self) -> None:
        """Nothing is received before the work at hand is done."""
        work = self._work
        if self._party.ended or work is None:
            self._work = None
        elif not self._is_done(work, monotonic() + _SECONDS_PER_TURN):
            self._loop.call_soon(self._go_on)
        else:
            self._work = None
            if not self._party.ended:
                self._listen()

    def _hear_all(self, frames: Iterator[Frame]) -> Iterator[None]:
        for frame in frames:
            self._largest_received = max(self._largest_received, size_of(frame))
            work = self._party.hear(frame)
            if work is not None:
                yield from work
            if self._party.ended:
                return
            yield

    def _is_done(self, work: Iterator[None], enough: float) -> bool:
        """False if there was not enough time for all of it."""
        try:
            for _ in work:
                if self._party.ended:
                    return True
                if monotonic() > enough:
                    return False
        except Exception as error:
            self._party.broken(error)
        return True

    def _end_of_stream(self) -> None:
        self._loop.remove_reader(self._peer.descriptor)
        if self._party.stopping:
            self._report_end(None)
            return
        self._peer.when_exited(self._exited)
        self._loop.call_later(EXIT_NOTICE_SECONDS, self._report_end, None)

    def _exited(self, end: End) -> None:
        """On the thread that heard of it."""
        try:
            self._loop.call_soon_threadsafe(self._report_end, end)
        except RuntimeError:
            self._report_end(end)

    def _report_end(self, end: End) -> None:
        if not self._gone:
            self._gone = True
            self._party.gone(end, not self._reader.closed())

    def memory_used_bytes(self) -> int | None:
        """What the worker has grown by, less its own copies of messages."""
        growth = self._peer.growth()
        if growth is None:
            return None
        copies = memory_of_messages(self._outbox.largest, self._largest_received)
        return max(0, growth - copies) or None

    def processor_seconds(self) -> float | None:
        return self._peer.processor_seconds()

    def is_stuck(self) -> bool:
        """Whether the worker was stopped by a signal, and has not said anything yet."""
        return not self._largest_received and self._peer.is_stopped()

    @property
    def is_working(self) -> bool:
        """Whether it is busy with a long message, and does not read."""
        return self._work is not None

    def kill(self) -> None:
        self._peer.kill()

    def hang_up(self) -> None:
        """Nothing is sent any more, and nothing is heard."""
        self._work = None
        self._outbox.close()

    def close(self) -> None:
        if not self._loop.is_closed():
            self._loop.remove_reader(self._peer.descriptor)
        self._peer.close()
