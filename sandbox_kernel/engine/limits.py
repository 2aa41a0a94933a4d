"""The engine's limits as one frozen value, so that a run keeps those it began with."""

from __future__ import annotations

from dataclasses import dataclass

# What the worker holds at once of a message on its way: receive buffer, text, decoded JSON, the
# realm's string; and of one on its way out: C string, bytes, the joined frame.
_COPIES_IN, _COPIES_OUT = 6, 4
_MESSAGE_SLACK = 64 * 2**20


def spell_size(size: int) -> str:
    """As people say it: 16777216 is 16 MiB, 1000000 is 1000000 bytes."""
    for unit, name in ((2**30, "GiB"), (2**20, "MiB"), (2**10, "KiB")):
        if size and size % unit == 0:
            return f"{size // unit} {name}"
    return f"{size} bytes"


@dataclass(frozen=True, slots=True)
class Limits:
    """Bytes and seconds; `isolation` is the least level of `wire.messages` a worker must reach."""

    default_memory_bytes: int
    output_bytes: int
    message_bytes: int
    cpu_seconds: int
    calls_in_flight: int
    isolation: int

    def address_space(self, memory_limit: int) -> int:
        """The kernel's own limit: well beyond the heap's, for engines gone wrong."""
        return 3 * memory_limit + _MESSAGE_SLACK + self.message_bytes * _COPIES_OUT

    def copies_of(self, sent: int, received: int) -> int:
        """Memory that a worker needs for messages, which is not the guest's heap."""
        return _COPIES_IN * sent + _COPIES_OUT * received
