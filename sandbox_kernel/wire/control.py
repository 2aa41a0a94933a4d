"""Fixed-size records in which the zygote tells the host about its workers."""

from __future__ import annotations

import struct
from typing import NamedTuple

FORKED, EXITED, FAILED = 1, 2, 3
FORK, REHEARSE_AND_FORK = b"F", b"R"  # what the host asks of it, with a socket for the worker
_LAYOUT = struct.Struct("<iiiq")
SIZE = _LAYOUT.size
pack = _LAYOUT.pack  # the fields of a Record


class Record(NamedTuple):
    """FORKED comes with a pidfd; EXITED says how a worker ended; FAILED why the zygote could not start.

    `kilobytes` of a FORKED worker is what it has mapped at birth, or 0 if that is unknown; of an
    EXITED worker its peak resident memory beyond that of the zygote.
    """

    kind: int
    pid: int
    status: int
    kilobytes: int

    @classmethod
    def unpack(cls, data: bytes) -> Record:
        return cls(*_LAYOUT.unpack(data))
