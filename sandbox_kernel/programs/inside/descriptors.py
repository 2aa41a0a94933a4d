"""The numbers of descriptors in the zygote and its forks, so that they never get in each other's way.

The zygote holds 0 to 5 from its start: so whatever it is sent has a higher number, and a guest can
put its own in their places, one after the other.
"""

from __future__ import annotations

import os

from ...isolation.descriptors import close_above

CONTROL = 3  # of the zygote
CHANNEL, READY = 3, 4  # of a guest, beside its standard streams
PROC = 5
_MOST = 1 << 20


def settle() -> None:
    """In the zygote, at its start."""
    close_above(CONTROL)
    for wanted, path, flags in (
        (READY, os.devnull, os.O_RDWR),
        (PROC, "/proc", os.O_PATH | os.O_DIRECTORY),
    ):
        if os.open(path, flags) != wanted:
            raise RuntimeError(f"descriptor {wanted} is taken")


def forget_control() -> None:
    """In a supervisor: its number stays taken."""
    os.dup2(READY, CONTROL, inheritable=False)


def take(streams: list[int]) -> None:
    """In a guest: its standard streams, channel and readiness, and no others but PROC."""
    for number, descriptor in enumerate(streams):
        os.dup2(descriptor, number)
    os.closerange(PROC + 1, _MOST)
