"""What a worker gives up before it reads its job: descriptors and nearly every system call.

The filter is an allow-list that kills the process. It is a dozen BPF instructions written here
rather than libseccomp, which would be one more native library to load before every sandbox.
"""

from __future__ import annotations

import os
import resource
import signal
import struct
import sys

from ..errors import IsolationError
from ..wire.messages import FILTERED, PROCESS_ONLY
from . import prefault
from .quickjs import ffi

_PR_SET_PDEATHSIG, _PR_SET_DUMPABLE, _PR_SET_NO_NEW_PRIVS, _PR_SET_SECCOMP = 1, 4, 38, 22
_PROT_EXEC = 4

# x86-64 and arm64 numbers of what a worker needs to compute, talk to its host, and end.
_X86_64 = {
    "read": 0, "write": 1, "poll": 7, "mmap": 9, "mprotect": 10, "munmap": 11, "brk": 12,
    "rt_sigprocmask": 14, "rt_sigreturn": 15, "sched_yield": 24, "mremap": 25, "madvise": 28,
    "sendto": 44, "recvfrom": 45, "sendmsg": 46, "recvmsg": 47, "exit": 60, "gettimeofday": 96,
    "futex": 202, "restart_syscall": 219, "clock_gettime": 228, "exit_group": 231,
    "getrandom": 318,
}  # fmt: skip
_AARCH64 = {
    "read": 63, "write": 64, "ppoll": 73, "exit": 93, "exit_group": 94, "futex": 98,
    "clock_gettime": 113, "sched_yield": 124, "restart_syscall": 128, "rt_sigprocmask": 135, "rt_sigreturn": 139,
    "gettimeofday": 169, "sendto": 206, "recvfrom": 207, "sendmsg": 211, "recvmsg": 212,
    "brk": 214, "munmap": 215, "mremap": 216, "mmap": 222, "mprotect": 226, "madvise": 233,
    "getrandom": 278,
}  # fmt: skip
_ARCHITECTURES = {
    "x86_64": (0xC000003E, _X86_64),
    "aarch64": (0xC00000B7, _AARCH64),
}

_LOAD, _JUMP_EQUAL, _JUMP_SET, _JUMP_ABOVE, _RETURN = 0x20, 0x15, 0x45, 0x35, 0x06
_KILL_PROCESS, _ALLOW = 0x80000000, 0x7FFF0000
_NUMBER, _ARCHITECTURE, _THIRD_ARGUMENT = 0, 4, 16 + 2 * 8
_X32_BIT = 0x40000000


def filter_program(machine: str) -> bytes:
    """The seccomp filter as BPF; memory may be mapped, but never as executable."""
    audit, numbers = _ARCHITECTURES[machine]
    guarded = [numbers["mmap"], numbers["mprotect"]]
    plain = sorted(number for number in numbers.values() if number not in guarded)
    code = [
        (_LOAD, 0, 0, _ARCHITECTURE),
        (_JUMP_EQUAL, 1, 0, audit),
        (_RETURN, 0, 0, _KILL_PROCESS),
    ]
    code += [(_LOAD, 0, 0, _NUMBER), (_JUMP_ABOVE, 0, 1, _X32_BIT), (_RETURN, 0, 0, _KILL_PROCESS)]
    for number in plain:
        code += [(_JUMP_EQUAL, 0, 1, number), (_RETURN, 0, 0, _ALLOW)]
    code += [(_JUMP_EQUAL, 2, 0, guarded[0]), (_JUMP_EQUAL, 1, 0, guarded[1])]
    code += [(_RETURN, 0, 0, _KILL_PROCESS), (_LOAD, 0, 0, _THIRD_ARGUMENT)]
    code += [(_JUMP_SET, 0, 1, _PROT_EXEC), (_RETURN, 0, 0, _KILL_PROCESS), (_RETURN, 0, 0, _ALLOW)]
    return b"".join(struct.pack("<HBBI", *step) for step in code)


class Lockdown:
    """Prepared once in the zygote, applied in every worker."""

    def __init__(self, cpu_seconds: int) -> None:
        self._libc = ffi.dlopen(None)
        self._cpu_seconds = cpu_seconds
        self.filtered = sys.platform == "linux" and os.uname().machine in _ARCHITECTURES
        if self.filtered:
            program = filter_program(os.uname().machine)
            self._code = ffi.new("struct sock_filter[]", len(program) // 8)
            ffi.memmove(self._code, program, len(program))
            self._program = ffi.new("struct sock_fprog *", (len(program) // 8, self._code))
        self._libc.tzset()

    def claim(self, ranges: list[prefault.Range]) -> None:
        prefault.claim(self._libc, ranges)

    def apply(self, kept_descriptor: int, parent: int) -> int:
        """Returns the isolation level reached; raises IsolationError if the filter is refused."""
        self._limit()
        _close_all_but(kept_descriptor)
        if sys.platform != "linux":
            return PROCESS_ONLY
        parent_death = self._libc.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
        hidden = self._libc.prctl(_PR_SET_DUMPABLE, 0, 0, 0, 0)
        if parent_death or hidden:
            raise IsolationError("prctl was refused")
        if os.getppid() != parent:
            os._exit(0)  # the zygote died before its death could be noticed
        if not self.filtered:
            return PROCESS_ONLY
        self._filter()
        return FILTERED

    def _limit(self) -> None:
        for name, value in (
            ("RLIMIT_CORE", 0),
            ("RLIMIT_FSIZE", 0),
            ("RLIMIT_NPROC", 0),
            ("RLIMIT_MEMLOCK", 0),
        ):
            resource.setrlimit(getattr(resource, name), (value, value))
        # Beyond the first the kernel says why (SIGXCPU), beyond the second it only kills.
        resource.setrlimit(resource.RLIMIT_CPU, (self._cpu_seconds, self._cpu_seconds + 1))

    def _filter(self) -> None:
        if self._libc.prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0):
            raise IsolationError("no-new-privileges was refused")
        pointer = int(ffi.cast("unsigned long", self._program))
        if self._libc.prctl(_PR_SET_SECCOMP, 2, pointer, 0, 0):
            raise IsolationError(f"the kernel refused the system-call filter (errno {ffi.errno})")


def _close_all_but(kept: int) -> None:
    os.closerange(0, kept)
    os.closerange(kept + 1, 256)
    # One, because poll() refuses to look at more descriptors than the limit; opening is filtered.
    resource.setrlimit(resource.RLIMIT_NOFILE, (1, 1))
