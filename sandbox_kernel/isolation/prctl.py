"""Restrictions that a Linux process can set for itself with `prctl`."""

from __future__ import annotations

import os
from typing import Any

from .libc import ffi, libc
from .steps import Step

_SET_PDEATHSIG, _SET_DUMPABLE, _SET_KEEPCAPS, _SET_SECCOMP = 1, 4, 8, 22
_SET_CHILD_SUBREAPER, _SET_NO_NEW_PRIVS, _CAP_AMBIENT = 36, 38, 47
_CLEAR_ALL = 4  # of _CAP_AMBIENT
_SECCOMP_MODE_FILTER = 2
_INSTRUCTION_BYTES = 8


def no_new_privileges() -> Step:
    """Programs that it starts cannot gain rights. Required before a filter can be installed."""
    return _step("setting no-new-privileges", _SET_NO_NEW_PRIVS, 1)


def signal_at_parents_death(signal: int) -> Step:
    """0 for no signal. A parent that is already dead goes unnoticed, so check `has_parent` too."""
    return _step("asking for a signal at the parent's death", _SET_PDEATHSIG, signal)


def has_parent(pid: int) -> Step:
    """Fails if the parent has died."""
    return Step("checking the parent process", os.getppid, (), pid)


def not_dumpable() -> Step:
    """Other processes of the same user cannot read its memory."""
    return _step("becoming undumpable", _SET_DUMPABLE, 0)


def dumpable() -> Step:
    """It can read what /proc says of itself, which a change of user would prevent."""
    return _step("becoming dumpable", _SET_DUMPABLE, 1)


def adopt_orphans() -> Step:
    """Descendants whose parent has died become its children."""
    return _step("becoming a subreaper", _SET_CHILD_SUBREAPER, 1)


def keep_capabilities() -> Step:
    """Over the next change of user, which would take them."""
    return _step("keeping capabilities", _SET_KEEPCAPS, 1)


def no_ambient_capabilities() -> Step:
    return _step("clearing ambient capabilities", _CAP_AMBIENT, _CLEAR_ALL)


def filter_system_calls(program: bytes) -> Step:
    """Installs a program from `bpf.assemble`; it cannot be removed."""
    header, code = filter_header(program)
    address = int(ffi.cast("unsigned long", header))
    step = _step("installing the system-call filter", _SET_SECCOMP, _SECCOMP_MODE_FILTER, address)
    return step._replace(memory=(header, code))


def filter_header(program: bytes) -> tuple[Any, Any]:
    """The `struct sock_fprog` of a program, and the memory that it points to, to be kept alive."""
    count = len(program) // _INSTRUCTION_BYTES
    code = ffi.new("struct sock_filter[]", count)
    ffi.memmove(code, program, len(program))
    return ffi.new("struct sock_fprog *", (count, code)), code


def _step(what: str, option: int, first: int, second: int = 0) -> Step:
    return Step(what, libc.prctl, (option, first, second, 0, 0), 0)
