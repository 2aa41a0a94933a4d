"""Frames: what goes in comes out, whatever the chunks; anything else is a ProtocolError."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sandbox_kernel.errors import ProtocolError
from sandbox_kernel.wire.frame import HEAD, Frame, FrameReader, pack

NUMBERS = st.integers(0, 2**32 - 1)
FRAMES = st.tuples(
    st.integers(0, 255),
    NUMBERS,
    NUMBERS,
    st.binary(max_size=300),
    st.lists(st.binary(max_size=9000), max_size=4),
)


def feed(reader: FrameReader, data: bytes, step: int) -> list[Frame]:
    frames = []
    at = 0
    while at < len(data):
        room = reader.room()
        count = min(step, len(room), len(data) - at)
        room[:count] = data[at : at + count]
        at += count
        frames += [
            frame._replace(attachments=[bytes(part) for part in frame.attachments])
            for frame in reader.feed(count)
        ]
    return frames


@given(st.lists(FRAMES, max_size=8), st.integers(1, 70000))
def test_frames_survive_any_chunking(
    frames: list[tuple[int, int, int, bytes, list[bytes]]], step: int
) -> None:
    data = b"".join(b"".join(pack(*frame)) for frame in frames)
    reader = FrameReader(1 << 24)
    assert feed(reader, data, step) == [Frame(*frame) for frame in frames]
    assert reader.closed()


@given(st.binary(max_size=5000), st.integers(1, 5000))
def test_any_bytes_are_frames_or_a_protocol_error(data: bytes, step: int) -> None:
    try:
        feed(FrameReader(4096), data, step)
    except ProtocolError:
        pass


def test_a_frame_over_the_cap_is_refused_before_any_room_is_made_for_it() -> None:
    reader = FrameReader(1000)
    with pytest.raises(ProtocolError, match="4294967295 bytes"):
        feed(reader, HEAD.pack(2**32 - 1, 1, 0, 0, 0), 20)
    assert len(reader.room()) <= 1 << 16


def test_a_large_claim_costs_memory_only_as_its_bytes_arrive() -> None:
    reader = FrameReader(1 << 31)
    feed(reader, HEAD.pack(1 << 30, 1, 0, 0, (1 << 30) - 16), 20)
    assert len(reader.room()) <= 1 << 23


@pytest.mark.parametrize(
    "data",
    [
        HEAD.pack(3, 1, 0, 0, 0),
        HEAD.pack(16, 1, 0, 0, 5),
        HEAD.pack(17, 1, 0, 0, 0) + b"x",
        HEAD.pack(16, 1 | 2 << 8, 0, 0, 0),
        HEAD.pack(20, 1 | 1 << 8, 0, 0, 0) + b"\xff\xff\xff\xff",
    ],
)
def test_parts_that_do_not_add_up_are_refused(data: bytes) -> None:
    with pytest.raises(ProtocolError):
        feed(FrameReader(1 << 20), data, 100)


def test_an_end_in_the_middle_of_a_frame_is_told_from_an_orderly_one() -> None:
    reader = FrameReader(1000)
    feed(reader, b"".join(pack(1, 2, 3, b"text"))[:-1], 100)
    assert not reader.closed()


def test_what_a_large_frame_carried_stays_as_it_was_while_anybody_has_it() -> None:
    """Large buffers are used again."""
    held = []
    for fill in range(6):
        reader = FrameReader(1 << 24)
        data = b"".join(pack(1, 0, 0, b"", [bytes([fill]) * 300_000]))
        at = 0
        while at < len(data):
            room = reader.room()
            count = min(len(room), len(data) - at)
            room[:count] = data[at : at + count]
            at += count
            frames = list(reader.feed(count))
        (part,) = frames[0].attachments
        if fill % 2:
            held.append((fill, part))
        del frames, part, room
    for fill, part in held:
        assert bytes(part) == bytes([fill]) * 300_000
