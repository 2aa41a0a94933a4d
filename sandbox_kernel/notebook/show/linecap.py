"""How many lines of output a cell shows: the first of them live, the last at its end, and a count.

A notebook keeps and draws every line, and a loop prints twenty thousand of them in no time.
"""

from __future__ import annotations

from collections import deque
from typing import Literal

from ...budget import clipped

Stream = Literal["stdout", "stderr"]
Piece = tuple[Stream, str]

FIRST = 1_000  # lines that are shown as they come
LAST = 50  # lines that are shown at the end of the cell
_LONGEST = 2_000  # characters of one of the last


class LineCap:
    """The lines of one cell. Not for two threads at once."""

    def __init__(self) -> None:
        self._room = FIRST
        self._hidden = 0
        self._last: deque[Piece] = deque(maxlen=LAST)
        self._unended = ""  # the beginning of a line that is not shown

    def take(self, stream: Stream, text: str) -> str:
        """The part of this text that is shown now."""
        if self._room > 0:
            lines = text.count("\n")
            if lines < self._room:
                self._room -= lines
                return text
            end = _end_of_line(text, self._room)
            self._room = 0
            text, shown = text[end:], text[:end]
        else:
            shown = ""
        self._hide(stream, text)
        return shown

    def rest(self) -> list[Piece]:
        """What is shown at the end: how many lines were not, and the last ones."""
        if self._unended:
            self._hide("stdout", "\n")
        if not self._hidden:
            return []
        left = self._hidden - len(self._last)
        lines = f"… {left:,} more line{'' if left == 1 else 's'}, not shown\n"
        pieces: list[Piece] = [("stderr", lines)] if left else []
        pieces += self._last
        self._hidden = 0
        self._last.clear()
        return pieces

    def _hide(self, stream: Stream, text: str) -> None:
        *lines, unended = text.split("\n")
        self._hidden += len(lines)
        for line in lines[-LAST:]:
            whole, self._unended = self._unended + line, ""
            self._last.append((stream, clipped(whole, _LONGEST) + "\n"))
        self._unended = (self._unended + unended)[:_LONGEST]


def _end_of_line(text: str, number: int) -> int:
    """Where the line of this number ends; it has one."""
    at = 0
    for _ in range(number):
        at = text.index("\n", at) + 1
    return at
