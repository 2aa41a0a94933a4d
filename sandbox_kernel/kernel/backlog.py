"""The text of a cell that waits to be sent: in order, in messages of a good size, and bounded."""

from __future__ import annotations

from collections import deque

from ..budget import more
from ..notebook.show.linecap import Stream

Message = tuple[Stream, str]

MOST_WAITING = 8_000_000  # characters; what is written meanwhile is counted
MOST_IN_ALL = 50_000_000  # characters of one cell, since all of it is kept in the notebook's file
_CHUNK = 250_000  # characters in one message


class Backlog:
    """A queue of text. Not for two threads at once."""

    def __init__(self) -> None:
        self._texts: deque[Message] = deque()
        self._offset = 0  # how much of the first text has been taken
        self._ready: Message | None = None
        self._waiting = 0
        self._taken = 0
        self._left_out = 0

    def __bool__(self) -> bool:
        return bool(self._texts or self._ready or self._left_out)

    def add(self, stream: Stream, text: str) -> None:
        """Keep a text, or only count it while too much is waiting."""
        room = self._room()
        if self._left_out and room > 0:
            self._texts.append(self._gap())
        if room < len(text):
            self._left_out += len(text) - max(0, room)
            text = text[: max(0, room)]
        if text:
            self._texts.append((stream, text))
            self._waiting += len(text)

    def _room(self) -> int:
        """Once it was full, only when half of it has been sent: a gap that is told is a long one."""
        most = MOST_WAITING // 2 if self._left_out else MOST_WAITING
        return min(most - self._waiting, MOST_IN_ALL - self._taken - self._waiting)

    def _gap(self) -> Message:
        left, self._left_out = self._left_out, 0
        return "stderr", f"\n{more(left)} output, not shown\n"

    def first(self) -> Message:
        """The longest text for one stream, up to a message's size; the same until `drop`."""
        if self._ready is None:
            self._ready = self._next() if self._texts else self._gap()
        return self._ready

    def drop(self) -> None:
        """The first message has been sent."""
        self._ready = None

    def _next(self) -> Message:
        stream = self._texts[0][0]
        parts, length = [], 0
        while self._texts and self._texts[0][0] == stream and length < _CHUNK:
            text = self._texts[0][1]
            part = text[self._offset : self._offset + _CHUNK - length]
            parts.append(part)
            length += len(part)
            self._offset += len(part)
            if self._offset == len(text):
                self._texts.popleft()
                self._offset = 0
        self._waiting -= length
        self._taken += length
        return stream, "".join(parts)

    def clear(self) -> int:
        """Forget everything; how many lines that was."""
        lines = 0
        while self._texts or self._ready is not None:
            lines += self.first()[1].count("\n")
            self.drop()
        self._left_out = 0
        return lines
