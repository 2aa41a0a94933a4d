"""Closing descriptors that a process should not have."""

from __future__ import annotations

import os
import sys
from contextlib import suppress

from .steps import Step

_MOST_WHERE_NOTHING_TELLS = 4096


def close_above(last_kept: int) -> None:
    """Closes whatever a parent let its children inherit."""
    try:
        found = os.listdir("/proc/self/fd" if sys.platform == "linux" else "/dev/fd")
    except OSError:
        found = [str(number) for number in range(_MOST_WHERE_NOTHING_TELLS)]
    for descriptor in map(int, found):
        if descriptor > last_kept:
            with suppress(OSError):  # such as the folder's own
                os.close(descriptor)


def close_range(start: int, end: int) -> Step:
    """`end` stays open."""
    return Step(f"closing descriptors {start} to {end - 1}", os.closerange, (start, end))


def close_all_but(kept: int, end: int) -> tuple[Step, Step]:
    """All below `end`, which the process has never reached."""
    return close_range(0, kept), close_range(kept + 1, end)
