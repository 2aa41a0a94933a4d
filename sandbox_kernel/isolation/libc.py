"""The C library of this process; functions that a system lacks fail when they are first named."""

from __future__ import annotations

from typing import Any

from .libc_abi import ffi as _ffi

ffi: Any = _ffi
libc: Any = ffi.dlopen(None)
