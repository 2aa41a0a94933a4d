"""The pool of everybody who names none; `Programs.instance()` has the same one."""

from __future__ import annotations

import os
import threading

from .pool import ProgramPool

_pool: ProgramPool | None = None
_lock = threading.Lock()


def default_pool(*, replace_closed: bool = False) -> ProgramPool:
    """Made at first use. One that was closed stays closed, unless it is to be replaced."""
    global _pool
    with _lock:
        if _pool is None or (replace_closed and _pool.closed):
            _pool = ProgramPool()
        return _pool


def _forget_lock() -> None:
    """In a fork of the host, where nobody would release it."""
    global _lock
    _lock = threading.Lock()


os.register_at_fork(after_in_child=_forget_lock)
