"""Whether bytes of a guest are a picture that a page may be given: by its header, never by its name.

Only formats that cannot hold a script, and only sizes that a page can draw.
"""

from __future__ import annotations

import struct

_LARGEST_SIDE = 16_384  # pixels
_MOST_PIXELS = 50_000_000
_SEGMENTS = 1_000  # of a JPEG that are looked at until its size is found
_PNG = b"\x89PNG\r\n\x1a\n"
_SIZES_OF_JPEG = frozenset(range(0xC0, 0xD0)) - {0xC4, 0xC8, 0xCC}


def picture_type(data: bytes) -> str | None:
    """`image/png`, `image/jpeg` or `image/webp`; None for anything else, and for bombs."""
    found = picture_size(data)
    return None if found is None else found[0]


def picture_size(data: bytes) -> tuple[str, int, int] | None:
    """The same, with its width and height in pixels."""
    for mime, size_of in (("image/png", _png), ("image/jpeg", _jpeg), ("image/webp", _webp)):
        try:
            size = size_of(data)
        except (struct.error, IndexError):
            size = None  # it ends within its header
        if size is not None:
            return (mime, *size) if _is_drawable(*size) else None
    return None


def _is_drawable(width: int, height: int) -> bool:
    return (
        0 < width <= _LARGEST_SIDE
        and 0 < height <= _LARGEST_SIDE
        and width * height <= _MOST_PIXELS
    )


def _png(data: bytes) -> tuple[int, int] | None:
    if not data.startswith(_PNG) or data[12:16] != b"IHDR":
        return None
    width, height = struct.unpack_from(">II", data, 16)
    return width, height


def _jpeg(data: bytes) -> tuple[int, int] | None:
    if not data.startswith(b"\xff\xd8\xff"):
        return None
    at = 2
    for _ in range(_SEGMENTS):
        mark, kind, length = struct.unpack_from(">BBH", data, at)
        if mark != 0xFF or length < 2:
            return None
        if kind in _SIZES_OF_JPEG:
            height, width = struct.unpack_from(">HH", data, at + 5)
            return width, height
        at += 2 + length
    return None


def _webp(data: bytes) -> tuple[int, int] | None:
    if data[:4] != b"RIFF" or data[8:12] != b"WEBP":
        return None
    kind = data[12:16]
    if kind == b"VP8 " and data[23:26] == b"\x9d\x01\x2a":
        width, height = struct.unpack_from("<HH", data, 26)
        return width & 0x3FFF, height & 0x3FFF
    if kind == b"VP8L" and data[20] == 0x2F:
        (bits,) = struct.unpack_from("<I", data, 21)
        return (bits & 0x3FFF) + 1, (bits >> 14 & 0x3FFF) + 1
    if kind == b"VP8X":
        width, height = (int.from_bytes(data[at : at + 3], "little") for at in (24, 27))
        return (width + 1, height + 1) if len(data) >= 30 else None
    return None
