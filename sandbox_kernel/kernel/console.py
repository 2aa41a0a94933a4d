"""A cell's output: batched, in order, and never faster than Jupyter's server lets through.

The server drops stream output beyond 3 MB in 3 seconds and 1,000 messages a second (its defaults;
the count starts anew when the kernel is idle). So text waits here and goes out a few dozen times a
second, and what exceeds the window waits for it to move. `drain` comes before the cell's reply.
"""

from __future__ import annotations

import asyncio
import io
import threading
import time
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from typing import TextIO

from ..budget import more
from ..clean import clean_start
from ..notebook.show.linecap import LineCap, Stream
from .backlog import Backlog

Send = Callable[[Stream, str], None]

INTERVAL = 0.05  # seconds between two messages of one cell
_WINDOW = 3.2  # seconds; a little more than the server's
_WINDOW_BYTES = 2_600_000  # a little less than the server's
_PRINTED = 1_200_000  # characters that one `print` of a bridge may show
_OVERHEAD = 1000  # bytes of a message besides its text


class Meter:
    """How much may still go out in the present window."""

    def __init__(self, window_bytes: int = _WINDOW_BYTES) -> None:
        self._sent: deque[tuple[float, int]] = deque()
        self._total = 0
        self._limit = window_bytes

    def wait_for(self, size: int, now: float) -> float:
        """Seconds until so many bytes may go; a message larger than the window goes alone."""
        while self._sent and now - self._sent[0][0] >= _WINDOW:
            self._total -= self._sent.popleft()[1]
        if not self._sent or self._total + size <= self._limit:
            return 0.0
        return max(0.001, self._sent[0][0] + _WINDOW - now)

    def count(self, size: int, now: float) -> None:
        self._sent.append((now, size))
        self._total += size


class Console:
    """The two streams of one cell. `write` may be called from any thread."""

    def __init__(self, send: Send, loop: asyncio.AbstractEventLoop) -> None:
        self._send = send
        self._loop = loop
        self._lock = threading.RLock()
        self._waiting = Backlog()
        self._cap = LineCap()
        self._meter = Meter()
        self._last = 0.0
        self._timer: asyncio.TimerHandle | None = None
        self._held = False
        self._armed = False  # a timer is set or about to be; waking the loop for each line is dear
        self._cut = asyncio.Event()

    def write(self, stream: Stream, text: str) -> None:
        """Keep text for the next message; send at once if the last one is long past."""
        if not text:
            return
        with self._lock:
            text = self._cap.take(stream, text)
            if not text:
                return
            self._waiting.add(stream, text)
            if self._held:
                return
        # Not left to the timer: a bridge that blocks the loop prints live, too. Whole lines,
        # though: `print` writes a line's end separately.
        due = time.monotonic() - self._last >= INTERVAL and text.endswith("\n")
        if self._armed and not due:
            return
        with self._lock:
            if due:
                self._flush()
            if self._armed or not self._waiting:
                return
            self._armed = True
        self._loop.call_soon_threadsafe(self._arm)

    def hold(self) -> None:
        """Keep everything back until `flush` or `drain`: something is to be shown before it."""
        with self._lock:
            self._held = True

    def flush(self) -> None:
        """Send what waits, as far as the server lets it through; from any thread."""
        with self._lock:
            self._held = False
            self._flush()
            if self._armed or not self._waiting:
                return
            self._armed = True
        self._loop.call_soon_threadsafe(self._arm)

    async def drain(self) -> None:
        """Send everything that waits; returns early if the cell was interrupted meanwhile."""
        self._disarm()
        with self._lock:
            self._held = False
            for stream, text in self._cap.rest():
                self._waiting.add(stream, text)
        while True:
            with self._lock:
                pause = self._flush()
                if not self._waiting:
                    return
                if self._cut.is_set():
                    self._give_up()
                    return
            await _either(self._cut, pause)

    def cut(self) -> None:
        """From any thread: whoever waits for a flood to pass waits no longer."""
        self._loop.call_soon_threadsafe(self._cut.set)

    def _arm(self, pause: float = INTERVAL) -> None:
        self._timer = self._loop.call_later(pause, self._tick)

    def _disarm(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
        self._timer = None
        self._armed = False

    def _tick(self) -> None:
        self._armed = False  # before the flush: whoever writes after it sees that nobody waits
        with self._lock:
            pause = self._flush()
            if self._armed or not self._waiting:
                return
            self._armed = True
        self._arm(max(INTERVAL, pause))

    def _flush(self) -> float:
        """Send what the window allows; the seconds to wait before the next try."""
        now = self._last = time.monotonic()
        while self._waiting:
            stream, text = self._waiting.first()
            size = _weight(text)
            pause = self._meter.wait_for(size, now)
            if pause:
                return pause
            self._waiting.drop()
            self._meter.count(size, now)
            self._send(stream, text)
        return 0.0

    def _give_up(self) -> None:
        left = self._waiting.clear()
        lines = f"{left} more line{'' if left == 1 else 's'}"
        self._send("stderr", f"... {lines}, not shown because the cell was interrupted\n")


def _weight(text: str) -> int:
    """Bytes of the message about: UTF-8, and what JSON escapes."""
    escaped = text.count("\n") + text.count('"') + text.count("\\") + text.count("\t")
    return len(text.encode("utf-8", "replace")) + escaped + _OVERHEAD


async def _either(event: asyncio.Event, seconds: float) -> None:
    with suppress(TimeoutError):
        await asyncio.wait_for(event.wait(), seconds)


class CellStream(io.TextIOBase):
    """`sys.stdout` or `sys.stderr` of the kernel: what a bridge prints goes to the cell it serves.

    Cleaned like the guest's own output, since a bridge may well print what the guest handed it.
    """

    def __init__(
        self, name: Stream, fallback: TextIO, current: Callable[[], Console | None]
    ) -> None:
        self._name = name
        self._fallback = fallback
        self._current = current

    @property
    def encoding(self) -> str:  # type: ignore[override]  # an attribute there
        return "utf-8"

    def writable(self) -> bool:
        return True

    def write(self, text: str) -> int:
        console = self._current()
        if console is None:
            self._fallback.write(text)
        else:
            shown, left = clean_start(text, _PRINTED)
            console.write(self._name, f"{shown}{more(left)}\n" if left else shown)
        return len(text)

    def flush(self) -> None:
        if not self._fallback.closed:
            self._fallback.flush()
