"""Every default of `Programs`, with its unit. Frozen: a program keeps those that it began with."""

from __future__ import annotations

import os
import sys
from typing import NamedTuple

from .protocol import Limits

STRONGEST = "strongest"


class Settings(NamedTuple):
    """What `Programs` has as traits; docs/configuration.md explains each."""

    spares: int = 2  # places kept ready, each a guest and its supervisor
    concurrency: int = max(8, 4 * (os.cpu_count() or 1))  # programs executing at once
    max_queued: int = 1_000  # programs that wait for one of those to end
    max_processes: int = 64  # and threads, of one program
    open_files: int = 256  # of one process
    cpu_seconds: int = 300  # processor time of one process
    directory_bytes: int = 256 * 2**20  # of a fresh directory, with /tmp
    directory_files: int = 4_000
    python: str = ""  # the interpreter; "" is the host's own
    node: str = ""  # the Node.js of Node programs; "" is the one on PATH, or in the wheel
    deno: str = ""  # the Deno of Deno programs, likewise
    isolation: str = STRONGEST  # or the level that it has to be
    require_isolation: bool = sys.platform == "linux"  # refuse less than level landlock

    def limits(self, memory_bytes: int) -> Limits:
        return Limits(
            memory_bytes,
            self.max_processes,
            self.open_files,
            self.cpu_seconds,
            self.directory_bytes,
            self.directory_files,
        )
