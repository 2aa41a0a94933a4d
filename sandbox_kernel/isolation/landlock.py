"""Landlock: which files a process can reach, decided by the process itself, for good.

Everything is handled and only what a rule names is allowed. TCP is not, unless asked for, and from ABI 6 on
neither signals nor abstract sockets leave the process's own domain. Landlock does not see the
metadata of files (`stat`, `chmod`), UDP, or sockets that have a path: a filter has to.
"""

from __future__ import annotations

import os
import stat
import struct
from collections.abc import Iterable

from .libc import ffi
from .steps import Step
from .system import call

EXECUTE, WRITE, READ, LIST, REMOVE_FOLDER, REMOVE_FILE = (1 << bit for bit in range(6))
MAKE_FOLDER, MAKE_FILE, MAKE_LINK, REFER, TRUNCATE = 1 << 7, 1 << 8, 1 << 12, 1 << 13, 1 << 14
LOOK = READ | LIST
USE = (
    LOOK | WRITE | REMOVE_FOLDER | REMOVE_FILE | MAKE_FOLDER | MAKE_FILE
    | MAKE_LINK | REFER | TRUNCATE
)  # fmt: skip
_OF_FILES = EXECUTE | WRITE | READ | TRUNCATE

_HANDLED = (0, 0x1FFF, 0x3FFF, 0x7FFF, 0x7FFF, 0xFFFF)  # by ABI; the last for all later ones
_SIZES = (0, 8, 8, 8, 16, 16, 24)  # of the attributes, likewise
_ALL_TCP, _ALL_SCOPES = 3, 3
_ASK_VERSION, _PATH_BENEATH = 1, 1

SCOPES_SIGNALS = 6  # the first ABI that does
SEES_TRUNCATION = 3

Rule = tuple[str, int]  # a path, and what may be done there and beneath


def abi() -> int:
    """The version that this kernel offers; 0 if it offers none."""
    try:
        return call("landlock_create_ruleset", ffi.NULL, 0, _ASK_VERSION)
    except OSError:
        return 0


def ruleset(rules: Iterable[Rule], *, tcp: bool = False) -> int:
    """A descriptor of the rules. Paths that do not exist are left out; `tcp` leaves TCP open."""
    version = abi()
    handled = _HANDLED[min(version, len(_HANDLED) - 1)]
    attributes = ffi.from_buffer(struct.pack("<QQQ", handled, 0 if tcp else _ALL_TCP, _ALL_SCOPES))
    size = _SIZES[min(version, len(_SIZES) - 1)]
    made = call("landlock_create_ruleset", attributes, size, 0)
    for path, access in rules:
        try:
            _allow(made, path, access & handled)
        except FileNotFoundError:
            continue
    return made


def _allow(made: int, path: str, access: int) -> None:
    found = os.open(path, os.O_PATH | os.O_CLOEXEC)
    try:
        if not stat.S_ISDIR(os.fstat(found).st_mode):
            access &= _OF_FILES
        rule = ffi.from_buffer(struct.pack("<Qi", access, found))
        call("landlock_add_rule", made, _PATH_BENEATH, rule, 0)
    finally:
        os.close(found)


def restrict(made: int) -> Step:
    """From now on; takes no-new-privileges, and nothing can be mounted afterwards."""
    return Step("restricting access to files", call, ("landlock_restrict_self", made, 0), 0)
