"""The only writer: a page of source on which things are blanked, and nothing can be moved.

Visitors say which bytes are types; what is left keeps its line and its column, because a blanked character becomes
one space and a line break stays what it is. Where a rewrite has to add text, the page remembers where, and
`Prepared.source_column` takes it out of the columns again.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import NamedTuple

from tree_sitter import Node

_NOT_A_BREAK = re.compile("[^\r\n\u2028\u2029]")
_BREAK = re.compile(b"\r\n|[\r\n]|\xe2\x80[\xa8\xa9]")
_SPACE = re.compile(b"(?:[ \t\r\n\v\f]|\xc2\xa0|\xe2\x80[\xa8\xa9]|\xef\xbb\xbf)+")
_SPACES = b" \t\r\n\v\f"
_BEGINS_SPACE = _SPACES + b"\xc2\xe2\xef"
_WIDE = re.compile(b"[\x80-\xff]+")
_WHITE = bytes(code if code in b"\r\n" else 0x20 for code in range(256))
_ESCAPE = re.compile(r"\\u(?:\{([0-9a-fA-F]{1,6})\}|([0-9a-fA-F]{4}))")

Span = tuple[int, int]


_NOTHING: Mapping[int, list[Span]] = MappingProxyType({})


class Prepared(NamedTuple):
    """A source as the engine compiles it, and the way back to the columns that its author sees."""

    text: str
    shows_last: bool = False
    added: Mapping[int, list[Span]] = _NOTHING
    """By line: (source column, length) of each text added there, in order; all counted from 0."""

    def source_column(self, line: int, column: int) -> int:
        """The source's column for one of `text`; a column inside added text is where that text was added."""
        shift = 0
        for start, length in self.added.get(line, ()):
            beyond = column - 1 - shift - start
            if beyond < 0:
                break
            if beyond < length:
                return start + 1
            shift += length
        return column - shift


class Page:
    """A source being erased. Positions are byte offsets into the UTF-8 of it."""

    def __init__(self, data: bytes, comments: Iterable[Span] = ()) -> None:
        self.data = data
        self._blanks: list[Span] = []
        self._signs: dict[int, bytes] = {}
        self._inserts: list[tuple[int, int, bytes]] = []
        self._comments = list(comments)
        self._silent: list[Span] = []
        self._silent_starts: list[int] = []
        self._settled = False
        self._plain_breaks: bool | None = None
        self.settle()

    def blank(self, start: int, end: int) -> None:
        """Turn these characters into white space of the same shape."""
        self._blanks.append((start, end))
        self._settled = False

    def put(self, at: int, sign: str) -> None:
        """Let one ASCII character that is blanked, or a space, be this one instead."""
        self._signs[at] = sign.encode()

    def put_last(self, end: int, sign: str) -> None:
        """Let the last blanked character before `end` be this sign, or add it there if it has more than one byte."""
        if self.data[end - 1] < 0x80:
            self.put(end - 1, sign)
        else:
            self.insert(end, sign, order=-1)

    def open_group(self, at: int) -> None:
        """A parenthesis in front of what stands at `at`: on the space before it if there is a free one."""
        if at > 0 and self.data[at - 1] in b" \t" and at - 1 not in self._signs:
            self.put(at - 1, "(")
        else:
            self.insert(at, "(")

    def insert(self, at: int, text: str, order: int = 0) -> None:
        """Add text in front of what stands at `at`. Of texts at one place the lower order comes first."""
        self._inserts.append((at, order, text.encode("utf-8", "surrogatepass")))

    def replace(self, start: int, end: int, text: str) -> None:
        """Write `text` where something stood: within its room as far as that goes."""
        room = end - start
        if (
            len(text) <= room
            and self.data[start:end].isascii()
            and b"\n" not in self.data[start:end]
        ):
            self.blank(start, end)
            for offset, sign in enumerate(text):
                self.put(start + offset, sign)
        else:
            self.blank(start, end)
            self.insert(start, text)

    @property
    def touched(self) -> bool:
        """Whether anything has been erased or rewritten so far."""
        return bool(self._blanks or self._signs or self._inserts)

    def settle(self) -> None:
        """Let the questions below see everything that has been blanked so far."""
        if self._settled:
            return
        self._settled = True
        self._blanks = merged(self._blanks)
        self._silent = merged(self._blanks + self._comments) if self._comments else self._blanks
        self._silent_starts = [start for start, _ in self._silent]

    def is_silent(self, at: int) -> bool:
        """Whether this position lies in something blanked, or in a comment."""
        index = bisect_right(self._silent_starts, at) - 1
        return index >= 0 and at < self._silent[index][1]

    def is_gone(self, node: Node) -> bool:
        """Whether nothing is left of a node."""
        return self.after(node.start_byte) >= node.end_byte

    def after(self, at: int) -> int:
        """The next position from `at` on where the remaining program has a character; the end if none."""
        data, end, starts = self.data, len(self.data), self._silent_starts
        while at < end:
            index = bisect_right(starts, at) - 1
            if index >= 0 and at < self._silent[index][1]:
                at = self._silent[index][1]
            elif data[at] in _BEGINS_SPACE and (space := _SPACE.match(data, at)):
                at = space.end()
            else:
                break
        return at

    def before(self, at: int) -> int:
        """The last position before `at` where the remaining program has a character; -1 if none."""
        at -= 1
        while at >= 0:
            index = bisect_right(self._silent_starts, at) - 1
            if index >= 0 and at < self._silent[index][1]:
                at = self._silent[index][0] - 1
            elif self.data[at] in _SPACES:
                at -= 1
            else:
                break
        return at

    def end(self, node: Node) -> int:
        """Where what is left of a node ends: the grammar counts comments behind it as part of it."""
        return self.before(node.end_byte) + 1

    def text(self, node: Node) -> str:
        """A node as it is written."""
        return self.data[node.start_byte : node.end_byte].decode("utf-8", "surrogatepass")

    def name(self, node: Node) -> str:
        """An identifier as the language reads it, with its escapes resolved."""
        text = self.text(node)
        return _ESCAPE.sub(_unescaped, text) if "\\" in text else text

    def breaks(self, start: int, end: int) -> bool:
        """Whether a line ends between two positions: blanks and comments keep their line breaks."""
        return _BREAK.search(self.data, start, end) is not None

    def write(self) -> bytes:
        """The page as it now reads."""
        self.settle()
        data, all_white = self.data, self.data.translate(_WHITE)
        parts: list[bytes] = []
        at = 0
        for start, end in self._blanks:
            parts += (data[at:start], all_white[start:end])
            at = end
        text = bytearray(b"".join((*parts, data[at:])))
        changes = [(at, at, order, added) for at, order, added in self._inserts]
        for start, end in self._blanks if not data.isascii() else ():
            runs = _WIDE.finditer(data, start, end)
            changes += [(run.start(), run.end(), 0, white(run[0])) for run in runs]
        for at, sign in self._signs.items():
            text[at : at + 1] = sign
        return _spliced(text, changes) if changes else bytes(text)

    def added(self) -> dict[int, list[Span]]:
        """Where text was added, for `Prepared`."""
        lines: dict[int, list[Span]] = {}
        at, line, column = 0, 1, 0
        for position, _, text in sorted(self._inserts, key=lambda insert: insert[:2]):
            passed, after_break = self._breaks_between(at, position)
            if passed:
                line, column, at = line + passed, 0, after_break
            column += _length(self.data[at:position])
            at = position
            lines.setdefault(line, []).append((column, _length(text)))
        return lines

    def _breaks_between(self, start: int, end: int) -> tuple[int, int]:
        """How many lines end between two positions, and where the last of them ends."""
        if self._plain_breaks is None:
            self._plain_breaks = not (b"\r" in self.data or b"\xe2\x80" in self.data)
        if self._plain_breaks:
            return self.data.count(b"\n", start, end), self.data.rfind(b"\n", start, end) + 1
        found = [place.end() for place in _BREAK.finditer(self.data, start, end)]
        return len(found), found[-1] if found else 0


def _spliced(text: bytearray, changes: list[tuple[int, int, int, bytes]]) -> bytes:
    """A text with stretches of it replaced; several may be added at one place."""
    parts: list[bytes | bytearray] = []
    at = 0
    for start, end, _, replacement in sorted(changes, key=lambda change: change[:3]):
        parts += (text[at:start], replacement)
        at = end
    parts.append(text[at:])
    return b"".join(parts)


def white(piece: bytes) -> bytes:
    """A space for every character but those that end a line."""
    text = piece.decode("utf-8", "surrogatepass")
    return _NOT_A_BREAK.sub(" ", text).encode()


def merged(spans: list[Span]) -> list[Span]:
    """The same spans in order, with those that touch or overlap made one."""
    if not spans:
        return []
    spans = sorted(spans)
    result = []
    start, end = spans[0]
    for next_start, next_end in spans:
        if next_start > end:
            result.append((start, end))
            start, end = next_start, next_end
        elif next_end > end:
            end = next_end
    result.append((start, end))
    return result


def _unescaped(escape: re.Match[str]) -> str:
    code = int(escape[1] or escape[2], 16)
    return chr(code) if code < 0x110000 else escape[0]


def _length(piece: bytes) -> int:
    return len(piece) if piece.isascii() else len(piece.decode("utf-8", "surrogatepass"))
