"""How much processor time a program has used, seen from the host: that of all below its supervisor."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

_CHILDREN_ONLY, _ITS_OWN_TOO = slice(13, 15), slice(11, 15)  # of the fields behind the name


def pid_of(process: int) -> int | None:
    """The number of a process that a descriptor refers to; None if it is not seen from here."""
    try:
        lines = Path(f"/proc/self/fdinfo/{process}").read_text().splitlines()
    except OSError:
        return None
    found = next((int(line[4:]) for line in lines if line.startswith("Pid:")), -1)
    return found if found > 0 else None


def spent_below(supervisor: int) -> float | None:
    """In seconds, also of those that were waited for; None where the system does not tell."""
    try:
        ticks = _ticks(supervisor, _CHILDREN_ONLY)
        ticks += sum(_ticks(each, _ITS_OWN_TOO) for each in _below(supervisor))
    except (OSError, ValueError):
        return None
    return ticks / os.sysconf("SC_CLK_TCK")


def _below(pid: int) -> Iterator[int]:
    waiting = _children(pid)
    while waiting:
        each = waiting.pop()
        yield each
        try:
            waiting += _children(each)
        except OSError:
            continue  # it has ended meanwhile


def _children(pid: int) -> list[int]:
    tasks = Path(f"/proc/{pid}/task").iterdir()
    return [int(child) for task in tasks for child in (task / "children").read_text().split()]


def _ticks(pid: int, fields: slice) -> int:
    """The name of a process, which may be anything, stands before the last parenthesis."""
    try:
        text = Path(f"/proc/{pid}/stat").read_bytes()
    except (FileNotFoundError, ProcessLookupError):
        return 0  # it has ended meanwhile
    return sum(map(int, text.rpartition(b")")[2].split()[fields]))
