"""Images: bytes that are a picture by their header, or pixels that the host encodes."""

from __future__ import annotations

import struct
import zlib
from collections.abc import Mapping
from typing import Any

from ..brief import brief_start
from ..loans import Display
from ..pictures import picture_size
from .fields import given_options, given_text

MOST_BYTES = 4 * 2**20
MOST_PIXELS = 16_000_000
_MOST_CHUNKS = 10_000


def image_display(data: Any = None, options: Any = None) -> Display:
    alt = given_text(given_options(options, "image", ("alt",)), "alt", "image") or "image"
    if isinstance(data, Mapping):
        return {"image/png": _encoded(data), "text/plain": alt}
    picture = _bytes(data, "image takes bytes of a picture, or {width, height, data}")
    if len(picture) > MOST_BYTES:
        raise ValueError(f"an image may have {MOST_BYTES:,} bytes, not {len(picture):,}")
    found = picture_size(picture)
    if found is None:
        raise ValueError("the bytes are no PNG, JPEG or WebP that can be shown")
    mime, width, height = found
    _check_pixels(width, height)
    if _moves(picture):
        raise ValueError("an image with animation cannot be shown")
    return {mime: picture, "text/plain": alt}


def _bytes(data: Any, otherwise: str) -> bytes:
    try:
        view = memoryview(data)  # a Uint8ClampedArray comes as an array
    except TypeError:
        raise TypeError(otherwise) from None
    if view.itemsize != 1:
        raise TypeError(otherwise)
    return bytes(view)


def _check_pixels(width: int, height: int) -> None:
    if width * height > MOST_PIXELS:
        raise ValueError(f"an image may have {MOST_PIXELS:,} pixels, not {width:,} × {height:,}")


def _encoded(given: Mapping[Any, Any]) -> bytes:
    """A PNG of RGBA pixels."""
    width, height = given.get("width"), given.get("height")
    for name, side in (("width", width), ("height", height)):
        if isinstance(side, float) and side.is_integer():
            side = int(side)
        if isinstance(side, bool) or not isinstance(side, int) or side < 1:
            raise TypeError(
                f"{name} of an image must be a whole number of pixels, not {brief_start(side, 40)}"
            )
    width, height = int(width), int(height)  # type: ignore[arg-type]  # checked above
    _check_pixels(width, height)
    pixels = _bytes(given.get("data"), "data of an image must be a Uint8ClampedArray of RGBA")
    if len(pixels) != width * height * 4:
        raise ValueError(
            f"data of an image of {width} × {height} has {width * height * 4:,} bytes,"
            f" four for each pixel, not {len(pixels):,}"
        )
    lines = b"".join(b"\0" + pixels[at : at + width * 4] for at in range(0, len(pixels), width * 4))
    head = struct.pack(">IIBBBBB", width, height, 8, 6, 0, 0, 0)
    made = [_chunk(b"IHDR", head), _chunk(b"IDAT", zlib.compress(lines, 6)), _chunk(b"IEND", b"")]
    return b"\x89PNG\r\n\x1a\n" + b"".join(made)


def _chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def _moves(picture: bytes) -> bool:
    """An animated PNG says so in a chunk before its first picture, a WebP in its header."""
    if picture[:4] == b"RIFF":
        return (picture[12:16] == b"VP8X" and bool(picture[20] & 2)) or b"ANMF" in picture[:4096]
    if picture[:4] != b"\x89PNG":
        return False
    at = 8
    for _ in range(_MOST_CHUNKS):
        if at + 8 > len(picture):
            return False
        length, kind = struct.unpack_from(">I4s", picture, at)
        if kind == b"acTL":
            return True
        if kind == b"IDAT":
            return False
        at += 12 + length
    return True  # nobody has that many
