"""The C library of this process. A function that the system lacks raises when it is first used."""

from __future__ import annotations

from typing import Any

from .libc_abi import ffi as _ffi

ffi: Any = _ffi
libc: Any = ffi.dlopen(None)
