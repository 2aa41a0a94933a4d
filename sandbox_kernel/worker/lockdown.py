"""What a worker gives up before it reads its order: descriptors and nearly every system call."""

from __future__ import annotations

import os
import signal
import sys
from resource import (
    RLIMIT_AS,
    RLIMIT_CORE,
    RLIMIT_FSIZE,
    RLIMIT_MEMLOCK,
    RLIMIT_NOFILE,
    RLIMIT_NPROC,
)
from socket import MSG_DONTWAIT

from ..isolation import bpf, credentials, descriptors, prctl, rlimits
from ..isolation.identity import KILL, SETGID, SETPCAP, SETUID, Identity
from ..isolation.libc import libc
from ..isolation.steps import Step, take
from ..wire.messages import FILTERED, PROCESS_ONLY

# By architecture, the system calls that a worker needs to compute, talk to its host, and exit.
ALLOWED_CALLS = {
    "x86_64": {
        "poll": 7, "mmap": 9, "mprotect": 10, "munmap": 11, "brk": 12, "mremap": 25, "madvise": 28,
        "sendto": 44, "recvfrom": 45, "gettimeofday": 96, "futex": 202, "restart_syscall": 219,
        "clock_gettime": 228, "exit_group": 231, "prlimit64": 302,
    },
    "aarch64": {
        "ppoll": 73, "exit_group": 94, "futex": 98, "clock_gettime": 113, "restart_syscall": 128,
        "gettimeofday": 169, "sendto": 206, "recvfrom": 207, "brk": 214, "munmap": 215,
        "mremap": 216, "mmap": 222, "mprotect": 226, "madvise": 233, "prlimit64": 261,
    },
}  # fmt: skip
_PROT_EXEC = 4
_MAP_PRIVATE_ANONYMOUS, _MAP_NORESERVE, _MREMAP_MAYMOVE = 0x22, 0x4000, 1
# Of C libraries: MADV_DONTNEED, MADV_FREE, MADV_HUGEPAGE. Of prefault.py: MADV_POPULATE_WRITE.
_ADVICE = (4, 8, 14, 23)
# Of locks: FUTEX_WAIT, FUTEX_WAKE, and FUTEX_WAIT_BITSET with either clock. All with
# FUTEX_PRIVATE_FLAG, so that pages shared with other workers are not a means to reach them.
_FUTEX_OPERATIONS = (128, 129, 137, 393)


def _rule(*conditions: bpf.Condition) -> bpf.Rule:
    return bpf.Rule(conditions, bpf.KILL_PROCESS)


def _without_address(*flags: int) -> bpf.Rule:
    """For sendto and recvfrom: only what send() and recv() do, with one of these flags."""
    return _rule(bpf.Condition(3, flags), bpf.Condition(4, (0,)), bpf.Condition(5, (0,)))


_NOT_EXECUTABLE = bpf.without(2, _PROT_EXEC)
_OWN_MEMORY = bpf.Condition(3, (_MAP_PRIVATE_ANONYMOUS,), 0xFFFFFFFF & ~_MAP_NORESERVE)
_RULES = {
    "mmap": _rule(_NOT_EXECUTABLE, _OWN_MEMORY),
    "mprotect": _rule(_NOT_EXECUTABLE),
    "mremap": _rule(bpf.Condition(3, (_MREMAP_MAYMOVE,))),
    "madvise": _rule(bpf.Condition(2, _ADVICE)),
    "futex": _rule(bpf.Condition(1, _FUTEX_OPERATIONS)),
    # Its own address space only: see `Worker.limit_address_space`. A limit can only be lowered.
    "prlimit64": _rule(bpf.Condition(0, (0,)), bpf.Condition(1, (RLIMIT_AS,))),
    "sendto": _without_address(0),
    "recvfrom": _without_address(0, MSG_DONTWAIT),
}
_DESCRIPTORS = 256  # more than a zygote ever has, since it closes those it inherits


def filter_program(machine: str) -> bytes:
    """Kills the process at every other call, and at an allowed one with other arguments."""
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
        self._rest: list[Step] = []
        self._rehearsed: list[Step] = []
        if is_linux:
            self._give_up_root()
        self._rest += [
            rlimits.at_most(RLIMIT_NPROC, 0),
            rlimits.processor_seconds(cpu_seconds),
            *descriptors.close_all_but(kept_descriptor, _DESCRIPTORS),
            # One, because poll() refuses more descriptors than the limit. The filter forbids opening any.
            rlimits.at_most(RLIMIT_NOFILE, 1),
        ]
        self._rehearsed += [
            rlimits.at_most(RLIMIT_CORE, 0),  # as it already is
            descriptors.close_range(_DESCRIPTORS - 2, _DESCRIPTORS - 1),
        ]
        if is_linux:
            self._rest += _on_linux(parent)
            self._rehearsed.append(prctl.signal_at_parents_death(0))
        if filtered:
            self._first.append(prctl.no_new_privileges())
            self._rest.append(prctl.filter_system_calls(filter_program(os.uname().machine)))

    def _give_up_root(self) -> None:
        """No capabilities; and a worker of root is nobody, if its host can still limit and kill it.

        The zygote itself stays root, with what it takes for that, because it has to read its own /proc.
        """
        own, host = Identity.of("self"), Identity.of(os.getppid())
        kept: tuple[int, ...] = ()
        if own.can_host_nobody and host.can_host_nobody:
            kept = (SETUID, SETGID, KILL)  # the last so that its own death can end them
            self._first.append(credentials.no_groups())
            self._rest += credentials.become_nobody()
            self._rehearsed += credentials.stay_who_it_is()
        if SETPCAP in own.capabilities:
            self._first += credentials.no_bounding_set()
        self._first.append(credentials.only_capabilities(kept))
        self._rest.append(credentials.only_capabilities())
        self._rehearsed.append(credentials.only_capabilities(kept))

    def begin(self) -> None:
        """Called in the zygote once all is loaded; its workers inherit it.

        Raises IsolationError if a step fails.
        """
        if sys.platform == "linux":
            rlimits.be_first_to_go()
        take(self._first)

    def complete(self, *, for_real: bool = True) -> None:
        """Reaches `level` or raises IsolationError. A rehearsal takes steps that change nothing."""
        take(self._rest if for_real else self._rehearsed)


def _on_linux(parent: int) -> list[Step]:
    """After the change of user, which would undo the first two."""
    return [
        prctl.signal_at_parents_death(signal.SIGKILL),
        prctl.not_dumpable(),
        prctl.has_parent(parent),
    ]
