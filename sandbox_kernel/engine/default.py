"""The pool of everybody who names no engine; `Engine.instance()` has the same one."""

from __future__ import annotations

import os
import threading

from .pool import WorkerPool

_pool: WorkerPool | None = None
_lock = threading.Lock()


def default_pool(*, replace_closed: bool = False) -> WorkerPool:
    """Made at first use. One that was closed stays closed, unless it is to be replaced."""
    global _pool
    with _lock:
        if _pool is None or (replace_closed and _pool.closed):
            _pool = WorkerPool()
        return _pool


def warm_default_pool() -> WorkerPool:
    """The default pool, with its processes started."""
    pool = default_pool()
    pool.warm_up()
    return pool


def pool_for_a_run() -> WorkerPool:
    """The same, with a worker that wakes up while the run is prepared."""
    pool = _pool or default_pool()
    if not pool.expect_run():
        pool.warm_up()
    return pool


def _forget_lock() -> None:
    """In a fork of the host, where nobody would release it."""
    global _lock
    _lock = threading.Lock()


os.register_at_fork(after_in_child=_forget_lock)
