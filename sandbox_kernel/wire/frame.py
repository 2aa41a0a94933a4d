"""Frames: how messages are laid out in bytes, without any I/O.

    size u32 · kind u8 · attachments u24 · a u32 · b u32 · text u32
    attachment sizes u32 … · text · attachments …

`size` counts the bytes after it. The reader compares it with its cap before it allocates anything,
so that the other side cannot make this one use more memory.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator, Sequence
from typing import NamedTuple, TypeAlias

from ..errors import ProtocolError

Buffer: TypeAlias = bytes | bytearray | memoryview

HEAD = struct.Struct("<IIIII")
_SMALL = 1 << 16
_STEP = 1 << 22  # bytes by which a buffer grows
_MAX_ATTACHMENTS = 1 << 17  # each costs the reader a view of about 200 bytes


class OversizedFrame(ProtocolError):
    """It has more bytes than the reader takes; an honest worker's may, too."""


class Frame(NamedTuple):
    """One message. The meaning of `a` and `b` depends on `kind`; attachments may be views."""

    kind: int
    a: int = 0
    b: int = 0
    text: bytes | bytearray = b""
    attachments: Sequence[Buffer] = ()


def pack(
    kind: int, a: int = 0, b: int = 0, text: Buffer = b"", attachments: Sequence[Buffer] = ()
) -> list[Buffer]:
    """The frame as buffers to send one after another; attachments are not copied."""
    if not attachments:
        return [HEAD.pack(16 + len(text), kind, a, b, len(text)), text]
    count = len(attachments)
    if count >= _MAX_ATTACHMENTS:
        raise ProtocolError(
            f"a frame cannot have {count} attachments (at most {_MAX_ATTACHMENTS - 1})"
        )
    sizes = [memoryview(item).nbytes for item in attachments]
    total = 16 + 4 * count + len(text) + sum(sizes)
    if total >= 1 << 32:
        raise ProtocolError(f"a frame cannot have {total} bytes (at most {(1 << 32) - 1})")
    head = HEAD.pack(total, kind | count << 8, a, b, len(text))
    return [head + struct.pack(f"<{count}I", *sizes), text, *attachments]


def size_of(frame: Frame) -> int:
    """The bytes of its text and attachments."""
    return len(frame.text) + sum(map(len, frame.attachments))


class FrameReader:
    """Receive into `room()`, then iterate `feed(count)`, which yields the completed frames.

    At the end of the stream, `closed()` is False if it ended in the middle of a frame.
    """

    def __init__(self, cap: int) -> None:
        self._cap = cap
        self._buffer = bytearray(_SMALL)
        self._start = 0
        self._end = 0

    def room(self) -> memoryview:
        """The buffer for the next bytes; never empty."""
        return memoryview(self._buffer)[self._end :]

    def feed(self, count: int) -> Iterator[Frame]:
        """`count` bytes were written into `room()`; yields the frames they complete."""
        self._end += count
        while True:
            available = self._end - self._start
            if available < 20:
                self._make_room(20)
                return
            size = int.from_bytes(self._buffer[self._start : self._start + 4], "little")
            if size > self._cap:
                raise OversizedFrame(f"a frame has {size} bytes (16 to {self._cap} are allowed)")
            if size < 16:
                raise ProtocolError(f"a frame has {size} bytes (16 to {self._cap} are allowed)")
            if available < size + 4:
                self._make_room(size + 4)
                return
            begin = self._start
            self._start += size + 4
            yield self._parse(begin, self._start)

    def closed(self) -> bool:
        """Whether no unfinished frame is left."""
        return self._start == self._end

    def _make_room(self, needed: int) -> None:
        """Makes room in the buffer for the rest of the unfinished frame."""
        start, end = self._start, self._end
        if needed <= _SMALL:
            if start + max(needed, 4096) <= len(self._buffer) and end < len(self._buffer):
                return
            self._move_to(_buffer(max(_SMALL, end - start + 4096)))
        elif start or len(self._buffer) == _SMALL:
            self._move_to(_buffer(max(min(needed, _STEP), end - start + 4096)))
        elif end == len(self._buffer):
            self._buffer += bytes(min(needed - end, _STEP))  # in place, if the system can

    def _move_to(self, fresh: bytearray) -> None:
        start, end = self._start, self._end
        fresh[: end - start] = memoryview(self._buffer)[start:end]
        self._buffer, self._start, self._end = fresh, 0, end - start

    def _parse(self, start: int, end: int) -> Frame:
        _, kind, a, b, text_size = HEAD.unpack_from(self._buffer, start)
        count = kind >> 8
        at = start + HEAD.size
        if not count:
            if at + text_size != end:
                raise ProtocolError(f"a frame's text of {text_size} bytes does not fill the frame")
            return Frame(kind & 0xFF, a, b, self._text(at, end))
        if count >= _MAX_ATTACHMENTS or at + 4 * count > end:
            raise ProtocolError(f"a frame is too small for the sizes of its {count} attachments")
        sizes = struct.unpack_from(f"<{count}I", self._buffer, at)
        at += 4 * count
        if at + text_size + sum(sizes) != end:
            raise ProtocolError("the parts of a frame do not add up to its size")
        return Frame(kind & 0xFF, a, b, *_split(self._detach(at, end), text_size, sizes))

    def _text(self, at: int, end: int) -> bytes | bytearray:
        """A long one is not copied, which would take a while and twice the memory."""
        if end - at <= _STEP:
            return bytes(memoryview(self._buffer)[at:end])
        text, rest = self._buffer, self._buffer[end : self._end]
        del text[end:], text[:at]
        self._begin_with(rest)
        return text

    def _detach(self, at: int, end: int) -> memoryview:
        """The body, not copied: the frame takes the buffer, and later bytes move to a new one."""
        body, rest = memoryview(self._buffer)[at:end], memoryview(self._buffer)[end : self._end]
        if _SMALL < len(self._buffer) <= _LARGEST_KEPT:
            _kept[:] = [self._buffer]
        self._begin_with(rest)
        return body

    def _begin_with(self, rest: Buffer) -> None:
        self._buffer = bytearray(max(_SMALL, len(rest) + 4096))
        self._buffer[: len(rest)] = rest
        self._start, self._end = 0, len(rest)


_LARGEST_KEPT = 1 << 24
_kept: list[bytearray] = []  # the last large buffer given to a frame


def _buffer(size: int) -> bytearray:
    """The kept buffer if its frame is gone, else a new one: new memory costs more than a copy."""
    try:
        kept = _kept.pop()
        if len(kept) >= size:
            kept.append(kept.pop())  # raises BufferError while a view of it exists
            return kept
    except (IndexError, BufferError):
        pass
    return bytearray(size)


def _split(
    body: memoryview, text_size: int, sizes: Sequence[int]
) -> tuple[bytes, list[memoryview]]:
    text = bytes(body[:text_size])
    at = text_size
    parts = []
    for size in sizes:
        parts.append(body[at : at + size])
        at += size
    return text, parts
