"""What zygote and host say to each other about processes: records of a fixed size."""

from __future__ import annotations

import struct
from typing import NamedTuple

FORKED, EXITED, FAILED = 1, 2, 3
_LAYOUT = struct.Struct("<iiiq")
SIZE = _LAYOUT.size
pack = _LAYOUT.pack  # the fields of a Record


class Record(NamedTuple):
    """FORKED comes with a pidfd; EXITED says how a worker ended; FAILED why there is none.

    `kilobytes` are those that a forked worker was born with, mapped, or 0 if nothing tells; and
    those that were resident at the peak of one that exited, beyond its zygote's.
    """

    kind: int
    pid: int
    status: int
    kilobytes: int

    @classmethod
    def unpack(cls, data: bytes) -> Record:
        return cls(*_LAYOUT.unpack(data))
