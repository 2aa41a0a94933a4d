"""A user of its own for each program of root, so that programs and host have nothing in common."""

from __future__ import annotations

import itertools
import sys

from ..isolation.identity import KILL, SETGID, SETUID, Identity

_FIRST = 2_100_000_000  # above what systems and containers give away
_MANY, _FEW = 1_000_000, 64
_numbers = itertools.count()


def next_user() -> int | None:
    """None if the host is not root, or may not become others: then a program has the host's user."""
    if sys.platform != "linux":
        return None
    host = Identity.of("self")
    if not host.is_root or not host.may_set_groups:
        return None
    if not host.capabilities.issuperset((SETUID, SETGID, KILL)):
        return None
    return _in_range(next(_numbers))


def _in_range(number: int) -> int | None:
    with open("/proc/self/uid_map") as file:
        first, _, count = (int(word) for word in file.read().splitlines()[-1].split())
    if first + count > _FIRST + _MANY:
        return _FIRST + number % _MANY
    return first + count - 2 - number % _FEW if count > 2 * _FEW else None
