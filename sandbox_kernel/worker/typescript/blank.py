"""The only writer: a page of source on which text is blanked, and never moved.

Visitors say which bytes are types. The rest keeps its line and column, because a blanked character becomes one space
and a line break stays a line break. Where a rewrite has to add text, the page remembers where, and
`Prepared.source_column` subtracts it from columns again.
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
    """A source as the engine compiles it, and how to translate its columns back to the source's."""

    text: str
    shows_last: bool = False
    added: Mapping[int, list[Span]] = _NOTHING
    """By line: (source column, length) of each text added there, in order; columns count from 0."""

    def source_column(self, line: int, column: int) -> int:
        """The source column of a column in `text`; for one inside added text, where that was added."""
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
    """A source being erased. Positions are byte offsets into its UTF-8."""

    def __init__(self, data: bytes, comments: Iterable[Span] = ()) -> None:
        self.data = data
        self._blanks: list[Span] = []
        self._signs: dict[int, bytes] = {}
        self._inserts: list[tuple[int, int, bytes]] = []
        self._comments = list(comments)
        self._hidden: list[Span] = []
        self._hidden_starts: list[int] = []
        self._settled = False
        self._plain_breaks: bool | None = None
        self.settle()

    def blank(self, start: int, end: int) -> None:
        """Replace each of these characters by a space, except line breaks."""
        self._blanks.append((start, end))
        self._settled = False

    def put(self, at: int, sign: str) -> None:
        """Write this sign over one ASCII character that is a space or is blanked."""
        self._signs[at] = sign.encode()

    def put_last(self, end: int, sign: str) -> None:
        """Write this sign over the last blanked character before `end`, or add it if that is not ASCII."""
        if self.data[end - 1] < 0x80:
            self.put(end - 1, sign)
        else:
            self.insert(end, sign, order=-1)

    def open_group(self, at: int) -> None:
        """Open a parenthesis before `at`: over the space there if one is free, as added text if not."""
        if at > 0 and self.data[at - 1] in b" \t" and at - 1 not in self._signs:
            self.put(at - 1, "(")
        else:
            self.insert(at, "(")

    def insert(self, at: int, text: str, order: int = 0) -> None:
        """Add text before `at`. Of several texts at one place the lower order comes first."""
        self._inserts.append((at, order, text.encode("utf-8", "surrogatepass")))

    def replace(self, start: int, end: int, text: str) -> None:
        """Write `text` over a span if it fits there; if not, blank the span and add the text."""
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
        """Update the index that the methods below use to everything blanked so far."""
        if self._settled:
            return
        self._settled = True
        self._blanks = merged(self._blanks)
        self._hidden = merged(self._blanks + self._comments) if self._comments else self._blanks
        self._hidden_starts = [start for start, _ in self._hidden]

    def is_blank_or_comment(self, at: int) -> bool:
        """Whether this position is blanked or in a comment."""
        index = bisect_right(self._hidden_starts, at) - 1
        return index >= 0 and at < self._hidden[index][1]

    def is_gone(self, node: Node) -> bool:
        """Whether all of a node is blanked."""
        return self.after(node.start_byte) >= node.end_byte

    def after(self, at: int) -> int:
        """The first position from `at` on with code that remains; the end if there is none."""
        data, end, starts = self.data, len(self.data), self._hidden_starts
        while at < end:
            index = bisect_right(starts, at) - 1
            if index >= 0 and at < self._hidden[index][1]:
                at = self._hidden[index][1]
            elif data[at] in _BEGINS_SPACE and (space := _SPACE.match(data, at)):
                at = space.end()
            else:
                break
        return at

    def before(self, at: int) -> int:
        """The last position before `at` with code that remains; -1 if there is none."""
        at -= 1
        while at >= 0:
            index = bisect_right(self._hidden_starts, at) - 1
            if index >= 0 and at < self._hidden[index][1]:
                at = self._hidden[index][0] - 1
            elif self.data[at] in _SPACES:
                at -= 1
            else:
                break
        return at

    def end(self, node: Node) -> int:
        """Where the rest of a node ends; the grammar includes trailing comments in some nodes."""
        return self.before(node.end_byte) + 1

    def text(self, node: Node) -> str:
        """The source text of a node."""
        return self.data[node.start_byte : node.end_byte].decode("utf-8", "surrogatepass")

    def name(self, node: Node) -> str:
        """An identifier with its escapes resolved."""
        text = self.text(node)
        return _ESCAPE.sub(_unescaped, text) if "\\" in text else text

    def breaks(self, start: int, end: int) -> bool:
        """Whether there is a line break between two positions; blanked text keeps its line breaks."""
        return _BREAK.search(self.data, start, end) is not None

    def write(self) -> bytes:
        """The resulting text."""
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
    """Applies (start, end, order, replacement) changes; several texts may be added at one place."""
    parts: list[bytes | bytearray] = []
    at = 0
    for start, end, _, replacement in sorted(changes, key=lambda change: change[:3]):
        parts += (text[at:start], replacement)
        at = end
    parts.append(text[at:])
    return b"".join(parts)


def white(piece: bytes) -> bytes:
    """A space for every character except line breaks."""
    text = piece.decode("utf-8", "surrogatepass")
    return _NOT_A_BREAK.sub(" ", text).encode()


def merged(spans: list[Span]) -> list[Span]:
    """The spans in order, with those that touch or overlap joined."""
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
