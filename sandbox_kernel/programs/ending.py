"""What is known of a program's end becomes what its result says: pure functions."""

from __future__ import annotations

import os
import signal
from collections.abc import Sequence
from typing import Any, NamedTuple

from ..sizes import spell_size
from .contract import ProgramResult
from .gathering import Left
from .protocol import ASKED, DISK, ENDED, MEMORY, OPEN_FILES, THREADS, TIME, End, Limits
from .streams import Chunk, text_of, text_of_both

KILLED = 128 + signal.SIGKILL
_LOST = "its supervisor was ended from outside"
_TERMINATED = "terminated"
DELETED = "its workspace was deleted"


class Ending(NamedTuple):
    """Fields of a `ProgramResult`."""

    exit_code: int
    killed: bool = False
    oom: bool = False
    reason: str | None = None


def stopped(reason: str | None) -> Ending:
    """Somebody asked for it."""
    return Ending(KILLED, killed=True, reason=reason or _TERMINATED)


def over_time(timeout_ms: float) -> str:
    return f"time limit of {timeout_ms:g} ms"


def lost() -> Ending:
    """Nobody says how it ended."""
    return Ending(KILLED, reason=_LOST)


def of(
    end: End, limits: Limits, timeout_ms: float, asked: str | None, out_of_memory: bool
) -> Ending:
    """`asked` is the reason of a termination; `out_of_memory` is what the program itself says."""
    code = os.waitstatus_to_exitcode(end.status)
    if code != -signal.SIGKILL or end.why == ENDED:  # else we did it, and it did not end before
        return _by_itself(code, end, limits, out_of_memory)
    if end.why == ASKED:
        return stopped(asked)
    if end.why == TIME:
        return stopped(over_time(timeout_ms))
    if end.why == MEMORY:
        limit = spell_size(limits.memory_bytes)
        return Ending(KILLED, oom=True, reason=f"memory limit of {limit}")
    return Ending(
        KILLED, reason=_OTHERS[end.why].format(limits, spell_size(limits.directory_bytes))
    )


_OTHERS = {
    DISK: "limit of its directory, {1} and {0.directory_files:,} files",
    THREADS: "limit of {0.processes} processes and threads",
    OPEN_FILES: "limit of {0.open_files_of_all:,} open files of all its processes",
}


def _by_itself(code: int, end: End, limits: Limits, out_of_memory: bool) -> Ending:
    used_up = end.cpu_milliseconds >= limits.cpu_seconds * 1000
    if code == -signal.SIGXCPU or (code == -signal.SIGKILL and used_up):
        return Ending(KILLED, killed=True, reason=f"processor limit of {limits.cpu_seconds} s")
    if code < 0:
        return Ending(128 - code, oom=out_of_memory)
    return Ending(code, oom=out_of_memory and code != 0)


class Times(NamedTuple):
    """In seconds, of one clock; `began` is None if it never did."""

    asked: float
    began: float | None
    ended: float


def result_of(
    how: Ending,
    left: Left,
    said: Sequence[Chunk],
    times: Times,
    *,
    truncated: bool,
    calls: list[Any],
) -> ProgramResult:
    """All that is known of a program."""
    began = times.ended if times.began is None else times.began
    return ProgramResult(
        stdout=text_of("stdout", said),
        stderr=text_of("stderr", said),
        logs=text_of_both(said),
        duration_ms=(times.ended - began) * 1000,
        queued_ms=(began - times.asked) * 1000,
        truncated=truncated,
        output_files=left.output_files,
        result=left.result,
        files=left.files,
        calls=calls,
        **how._asdict(),
    )
