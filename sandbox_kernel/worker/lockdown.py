"""What a worker gives up before it reads its job: descriptors and nearly every system call.

The filter is an allow-list that kills the process. It is a dozen BPF instructions written here
rather than libseccomp, which would be one more native library to load before every sandbox.
"""

from __future__ import annotations

import os
import signal
import struct
import sys
from collections.abc import Callable
from resource import (
    RLIMIT_CORE,
    RLIMIT_CPU,
    RLIMIT_FSIZE,
    RLIMIT_MEMLOCK,
    RLIMIT_NOFILE,
    RLIMIT_NPROC,
    setrlimit,
)
from typing import Any

from ..errors import IsolationError
from ..wire.messages import FILTERED, PROCESS_ONLY
from .quickjs import ffi, libc

_PR_SET_PDEATHSIG, _PR_SET_DUMPABLE, _PR_SET_NO_NEW_PRIVS, _PR_SET_SECCOMP = 1, 4, 38, 22
_PROT_EXEC = 4
_NONE = (0, 0)
_IS_LINUX = sys.platform == "linux"

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


Call = tuple[Callable[..., Any], tuple[Any, ...], Any]  # what to call, with what, and what it gives


class Lockdown:
    """Begun once in the zygote, as far as that can go on forking; completed in every worker."""

    def __init__(self, kept_descriptor: int, parent: int, cpu_seconds: int) -> None:
        filtered = _IS_LINUX and os.uname().machine in _ARCHITECTURES
        self.level = FILTERED if filtered else PROCESS_ONLY
        libc.tzset()
        self._calls: list[Call] = [
            (setrlimit, (RLIMIT_NPROC, _NONE), None),
            # Beyond the first the kernel says why (SIGXCPU), beyond the second it only kills.
            (setrlimit, (RLIMIT_CPU, (cpu_seconds, cpu_seconds + 1)), None),
            (os.closerange, (0, kept_descriptor), None),
            (os.closerange, (kept_descriptor + 1, 256), None),
            # One: poll() refuses to look at more descriptors than the limit; opening is filtered.
            (setrlimit, (RLIMIT_NOFILE, (1, 1)), None),
        ]
        self._harmless_calls: list[Call] = [
            (setrlimit, (RLIMIT_CORE, _NONE), None),  # as it is since the beginning
            (os.closerange, (254, 255), None),  # that many are never open
        ]
        if _IS_LINUX:
            self._harmless_calls.append((libc.prctl, (_PR_SET_PDEATHSIG, 0, 0, 0, 0), 0))
            self._calls += [
                (libc.prctl, (_PR_SET_PDEATHSIG, int(signal.SIGKILL), 0, 0, 0), 0),
                (libc.prctl, (_PR_SET_DUMPABLE, 0, 0, 0, 0), 0),
                (os.getppid, (), parent),  # or else it died before its death could be noticed
            ]
        if filtered:
            self._calls.append((libc.prctl, (_PR_SET_SECCOMP, 2, self._filter(), 0, 0), 0))

    def _filter(self) -> int:
        """Where the kernel finds the program."""
        program = filter_program(os.uname().machine)
        self._code = ffi.new("struct sock_filter[]", len(program) // 8)
        ffi.memmove(self._code, program, len(program))
        self._program = ffi.new("struct sock_fprog *", (len(program) // 8, self._code))
        return int(ffi.cast("unsigned long", self._program))

    def begin(self) -> None:
        """Raises IsolationError if something is refused. What is given up here, forks lack too."""
        for limit in (RLIMIT_CORE, RLIMIT_FSIZE, RLIMIT_MEMLOCK):
            setrlimit(limit, _NONE)
        if self.level == FILTERED and libc.prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0):
            raise IsolationError("no-new-privileges was refused")

    def complete(self, *, for_real: bool = True) -> None:
        """`level` is reached, or something raises. A rehearsal calls what changes nothing."""
        for function, args, expected in self._calls if for_real else self._harmless_calls:
            if function(*args) != expected:
                raise IsolationError(f"{function} was refused (errno {ffi.errno})")
