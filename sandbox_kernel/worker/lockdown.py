"""What a worker gives up before it reads its order: descriptors and nearly every system call."""

from __future__ import annotations

import os
import signal
import sys
from resource import RLIMIT_CORE, RLIMIT_FSIZE, RLIMIT_MEMLOCK, RLIMIT_NOFILE, RLIMIT_NPROC

from ..isolation import bpf, descriptors, prctl, rlimits
from ..isolation.libc import libc
from ..isolation.steps import Step, take
from ..wire.messages import FILTERED, PROCESS_ONLY

# By architecture, the system calls that a worker needs to compute, talk to its host, and exit.
ALLOWED_CALLS = {
    "x86_64": {
        "read": 0, "write": 1, "poll": 7, "mmap": 9, "mprotect": 10, "munmap": 11, "brk": 12,
        "rt_sigprocmask": 14, "rt_sigreturn": 15, "sched_yield": 24, "mremap": 25, "madvise": 28,
        "sendto": 44, "recvfrom": 45, "sendmsg": 46, "recvmsg": 47, "exit": 60,
        "gettimeofday": 96, "futex": 202, "restart_syscall": 219, "clock_gettime": 228,
        "exit_group": 231, "getrandom": 318,
    },
    "aarch64": {
        "read": 63, "write": 64, "ppoll": 73, "exit": 93, "exit_group": 94, "futex": 98,
        "clock_gettime": 113, "sched_yield": 124, "restart_syscall": 128, "rt_sigprocmask": 135,
        "rt_sigreturn": 139, "gettimeofday": 169, "sendto": 206, "recvfrom": 207, "sendmsg": 211,
        "recvmsg": 212, "brk": 214, "munmap": 215, "mremap": 216, "mmap": 222, "mprotect": 226,
        "madvise": 233, "getrandom": 278,
    },
}  # fmt: skip
_PROT_EXEC, _RIGHTS = 4, 2  # the flag, and which argument of mmap and mprotect it is in
_NOT_EXECUTABLE = bpf.Rule((bpf.without(_RIGHTS, _PROT_EXEC),), bpf.KILL_PROCESS)
_RULES = {"mmap": _NOT_EXECUTABLE, "mprotect": _NOT_EXECUTABLE}
_DESCRIPTORS = 256  # more than a zygote ever has, since it closes those it inherits


def filter_program(machine: str) -> bytes:
    """Kills the process at every other call; memory may be mapped, but not as executable."""
    return bpf.assemble(machine, ALLOWED_CALLS[machine], _RULES)


class Lockdown:
    """The zygote applies what still lets it fork; each worker applies the rest."""

    def __init__(self, kept_descriptor: int, parent: int, cpu_seconds: int) -> None:
        is_linux = sys.platform == "linux"
        filtered = is_linux and os.uname().machine in ALLOWED_CALLS
        self.level = FILTERED if filtered else PROCESS_ONLY
        libc.tzset()  # reads the time zone now, because a worker cannot open its file
        self._first = [
            rlimits.at_most(limit, 0) for limit in (RLIMIT_CORE, RLIMIT_FSIZE, RLIMIT_MEMLOCK)
        ]
        self._rest = [
            rlimits.at_most(RLIMIT_NPROC, 0),
            rlimits.processor_seconds(cpu_seconds),
            *descriptors.close_all_but(kept_descriptor, _DESCRIPTORS),
            # One, because poll() refuses more descriptors than the limit. The filter forbids opening any.
            rlimits.at_most(RLIMIT_NOFILE, 1),
        ]
        self._rehearsed = [
            rlimits.at_most(RLIMIT_CORE, 0),  # as it already is
            descriptors.close_range(_DESCRIPTORS - 2, _DESCRIPTORS - 1),
        ]
        if is_linux:
            self._rest += _on_linux(parent)
            self._rehearsed.append(prctl.signal_at_parents_death(0))
        if filtered:
            self._first.append(prctl.no_new_privileges())
            self._rest.append(prctl.filter_system_calls(filter_program(os.uname().machine)))

    def begin(self) -> None:
        """Called in the zygote; its workers inherit it. Raises IsolationError if a step fails."""
        take(self._first)

    def complete(self, *, for_real: bool = True) -> None:
        """Reaches `level` or raises IsolationError. A rehearsal takes steps that change nothing."""
        take(self._rest if for_real else self._rehearsed)


def _on_linux(parent: int) -> list[Step]:
    return [
        prctl.signal_at_parents_death(signal.SIGKILL),
        prctl.not_dumpable(),
        prctl.has_parent(parent),
    ]
