"""System calls by number, with the errors that Python's own wrappers would raise."""

from __future__ import annotations

import os
from typing import Any

from .libc import ffi, libc

_MACHINES = ("x86_64", "aarch64")
_NUMBERS = {  # from linux's unistd.h, in the order of _MACHINES
    "pivot_root": (155, 41),
    "seccomp": (317, 277),
    "landlock_create_ruleset": (444, 444),
    "landlock_add_rule": (445, 445),
    "landlock_restrict_self": (446, 446),
}


def call(name: str, *args: Any) -> int:
    """Its result; OSError if it fails. Integers and cffi pointers are passed as they are."""
    passed = [ffi.cast("long", each) if isinstance(each, int) else each for each in args]
    machine = _MACHINES.index(os.uname().machine)
    return checked(int(libc.syscall(_NUMBERS[name][machine], *passed)), name)


def checked(result: int, what: str) -> int:
    """The result; OSError if it says that the call failed."""
    if result < 0:
        raise OSError(ffi.errno, f"{what}: {os.strerror(ffi.errno)}")
    return result
