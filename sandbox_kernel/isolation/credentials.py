"""Gives up what a process of root has on Linux: its user, its groups, its capabilities."""

from __future__ import annotations

import os
from collections.abc import Iterable

from .identity import HIGHEST, NOBODY
from .libc import ffi, libc
from .steps import Step

_CAPBSET_READ, _CAPBSET_DROP = 23, 24  # of prctl
_VERSION_3 = 0x20080522  # two words of 32 bits for each set


def no_groups() -> Step:
    """Leaves the supplementary groups."""
    return Step("leaving all groups", os.setgroups, ([],))


def become_nobody() -> tuple[Step, Step]:
    """Clears the signal at the parent's death, which has to be asked for afterwards."""
    ids = (NOBODY, NOBODY, NOBODY)
    return Step("becoming group nobody", os.setresgid, ids), Step(
        "becoming user nobody", os.setresuid, ids
    )


def stay_who_it_is() -> tuple[Step, Step]:
    """Takes the calls of `become_nobody` without effect."""
    ids = (-1, -1, -1)
    return Step("keeping the group", os.setresgid, ids), Step("keeping the user", os.setresuid, ids)


def only_capabilities(kept: Iterable[int] = ()) -> Step:
    """Gives up all others, for good; a program that it starts inherits none, not even these."""
    bits = sum(1 << number for number in kept)
    words = [word for half in (bits & 0xFFFFFFFF, bits >> 32) for word in (half, half, 0)]
    header = ffi.new("uint32_t[2]", [_VERSION_3, 0])
    data = ffi.new("uint32_t[6]", words)  # effective, permitted, inheritable; and again
    return Step("giving up capabilities", libc.capset, (header, data), 0, (header, data))


def no_bounding_set() -> list[Step]:
    """No program that it starts can have capabilities, whoever owns it. Takes SETPCAP."""
    held = [n for n in range(HIGHEST) if libc.prctl(_CAPBSET_READ, n, 0, 0, 0) == 1]
    return [
        Step(f"dropping capability {number}", libc.prctl, (_CAPBSET_DROP, number, 0, 0, 0), 0)
        for number in held
    ]
