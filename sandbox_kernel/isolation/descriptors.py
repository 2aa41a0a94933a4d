"""Closes descriptors that a process should not have."""

from __future__ import annotations

import os
import sys
from contextlib import suppress

from .steps import Step

_MOST_IF_UNKNOWN = 4096  # descriptors, where the system does not list them


def close_above(last_kept: int) -> None:
    """Closes every inherited descriptor above the last one to keep."""
    try:
        found = os.listdir("/proc/self/fd" if sys.platform == "linux" else "/dev/fd")
    except OSError:
        found = [str(number) for number in range(_MOST_IF_UNKNOWN)]
    for descriptor in map(int, found):
        if descriptor > last_kept:
            with suppress(OSError):  # already closed, such as the one that listed the folder
                os.close(descriptor)


def close_range(start: int, end: int) -> Step:
    """Closes `start` to `end - 1`."""
    return Step(f"closing descriptors {start} to {end - 1}", os.closerange, (start, end))


def close_all_but(kept: int, end: int) -> tuple[Step, Step]:
    """Closes all others below `end`; the process must not have any from `end` on."""
    return close_range(0, kept), close_range(kept + 1, end)
