"""Packets: what passes through a channel between a worker's relay and its user elsewhere.

    user → relay                            relay → user
    LEND    isolation level, bytes that     LENT    the worker is there
            the worker may map
    DATA    0, bytes for the worker         DATA    bytes mapped at its peak, bytes of the worker
    TAKEN   count of such bytes             TAKEN   count of such bytes
    KILL                                    EXITED  wait status, kilobytes at its peak; or nothing
                                            FAILED  text: no worker can be had
                                            ENDED   text: it was ended there

A channel carries them whole and in order. What the worker says is not looked at on the way. Each side
is sent at most `WINDOW` bytes and a packet more than it has taken: nothing piles up anywhere.
"""

from __future__ import annotations

import struct

from ..errors import ProtocolError
from ..wire.control import EXITED as EXITED_RECORD
from ..wire.control import Record

LEND, LENT, DATA, TAKEN, KILL, EXITED, FAILED, ENDED = range(1, 9)
WINDOW = 1 << 20
LARGEST = 1 << 18  # bytes of the worker's stream in one packet
LONGEST = 1000  # characters of a text
_LEND = struct.Struct("<BBQ")
_DATA = struct.Struct("<BQ")
_TAKEN = struct.Struct("<BI")
_EXITED = struct.Struct("<BiQ")


def lend(isolation: int, address_space: int) -> bytes:
    return _LEND.pack(LEND, isolation, address_space)


def data(growth: int, content: bytes) -> bytes:
    return _DATA.pack(DATA, growth) + content


def taken(count: int) -> bytes:
    return _TAKEN.pack(TAKEN, count)


def exited(record: Record | None) -> bytes:
    if record is None:
        return bytes([EXITED])
    return _EXITED.pack(EXITED, record.status, max(0, record.kilobytes))


def text(kind: int, message: str) -> bytes:
    return bytes([kind]) + message[:LONGEST].encode("utf-8", "replace")


def kind_of(packet: bytes) -> int:
    if not packet:
        raise ProtocolError("an empty packet")
    return packet[0]


def read_lend(packet: bytes) -> tuple[int, int]:
    _, isolation, address_space = _unpack(_LEND, packet)
    return isolation, address_space


def read_data(packet: bytes) -> tuple[int, memoryview]:
    """The growth that it tells of, and the content."""
    _, growth = _unpack(_DATA, packet[: _DATA.size])
    content = memoryview(packet)[_DATA.size :]
    if len(content) > LARGEST:
        raise ProtocolError(f"a packet has {len(content)} bytes of data (at most {LARGEST})")
    return growth, content


def read_taken(packet: bytes) -> int:
    return int(_unpack(_TAKEN, packet)[1])


def read_exited(packet: bytes) -> Record | None:
    if len(packet) == 1:
        return None
    _, status, kilobytes = _unpack(_EXITED, packet)
    return Record(EXITED_RECORD, 0, status, kilobytes)


def read_text(packet: bytes) -> str:
    return packet[1 : 1 + 4 * LONGEST].decode("utf-8", "replace")[:LONGEST]


def _unpack(layout: struct.Struct, packet: bytes) -> tuple[int, ...]:
    if len(packet) != layout.size:
        raise ProtocolError(f"a packet has {len(packet)} bytes instead of {layout.size}")
    return layout.unpack(packet)
