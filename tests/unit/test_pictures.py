"""Pictures are told by their header, and bounded by the size that it states."""

from __future__ import annotations

import io
import struct
import zlib

import pytest
from PIL import Image

from sandbox_kernel.pictures import picture_type


def _chunk(kind: bytes, data: bytes) -> bytes:
    whole = kind + data
    return struct.pack(">I", len(data)) + whole + struct.pack(">I", zlib.crc32(whole))


PNG = (
    b"\x89PNG\r\n\x1a\n"
    + _chunk(b"IHDR", struct.pack(">IIBBBBB", 1, 1, 8, 0, 0, 0, 0))
    + _chunk(b"IDAT", zlib.compress(b"\0\0"))
    + _chunk(b"IEND", b"")
)


def _saved(kind: str, size: tuple[int, int] = (30, 20), **options: object) -> bytes:
    file = io.BytesIO()
    Image.new("RGB", size, "red").save(file, kind, **options)
    return file.getvalue()


@pytest.mark.parametrize(
    ("data", "mime"),
    [
        (PNG, "image/png"),
        (_saved("PNG"), "image/png"),
        (_saved("JPEG"), "image/jpeg"),
        (_saved("JPEG", progressive=True), "image/jpeg"),
        (_saved("WEBP"), "image/webp"),
        (_saved("WEBP", lossless=True), "image/webp"),
        (_saved("WEBP", exif=b"Exif\0\0"), "image/webp"),
    ],
    ids=["own png", "png", "jpeg", "progressive jpeg", "webp", "lossless webp", "extended webp"],
)
def test_pictures_are_known_by_their_header(data: bytes, mime: str) -> None:
    assert picture_type(data) == mime


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"<svg xmlns='http://www.w3.org/2000/svg'/>",
        b"<html><script>alert(1)</script>",
        _saved("GIF"),
        PNG[:8] + b"<script>alert(1)</script>",
        b"\xff\xd8\xff<script>",
        b"\xff\xd8\xff" + b"\xe0\x00\x00" * 10,
        b"RIFF\0\0\0\0WEBP<script>alert(1)</script>",
    ],
)
def test_anything_else_is_no_picture(data: bytes) -> None:
    assert picture_type(data) is None


@pytest.mark.parametrize("kind", ["PNG", "JPEG", "WEBP"])
def test_what_ends_within_its_header_is_no_picture(kind: str) -> None:
    whole = _saved(kind)
    for length in range(24 if kind != "JPEG" else 150):
        assert picture_type(whole[:length]) is None


@pytest.mark.parametrize(("width", "height"), [(100_000, 1), (10_000, 10_000), (0, 5)])
def test_what_no_page_can_draw_is_no_picture(width: int, height: int) -> None:
    assert picture_type(PNG[:16] + struct.pack(">II", width, height) + PNG[24:]) is None
