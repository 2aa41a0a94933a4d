"""What an engine and this process hold on to, read from the kernel."""

from __future__ import annotations

import gc
import os
from functools import partial

import psutil

from sandbox_kernel import run_code
from sandbox_kernel.engine import Engine
from sandbox_kernel.engine.pool import WorkerPool
from tests.waiting import until


def _has_its_spares(pool: WorkerPool) -> bool:
    return len(pool._spares) >= pool.spares


def descriptors(*engines: WorkerPool) -> int:
    """Of this process, when these engines, and the one that nobody names, have all their spares."""
    for pool in (WorkerPool._shared, *engines):
        if pool is not None and pool._zygote is not None:
            until(partial(_has_its_spares, pool), 5)
    return len(os.listdir("/proc/self/fd"))


def resident() -> int:
    gc.collect()
    return int(psutil.Process().memory_info().rss)


def workers(engine: Engine) -> list[psutil.Process]:
    """Every live child of the engine's zygote."""
    if engine._zygote is None:
        return []
    try:
        found = psutil.Process(engine._zygote.pid).children()
    except psutil.NoSuchProcess:
        return []
    return [child for child in found if _lives(child)]


def _lives(process: psutil.Process) -> bool:
    try:
        return bool(process.status() != psutil.STATUS_ZOMBIE)
    except psutil.NoSuchProcess:
        return False


def works(engine: Engine | None = None) -> bool:
    """The next run is as good as any."""
    result = run_code("report(1); export default 6 * 7", report=lambda v: None, engine=engine).wait(
        30
    )
    return (result.status, result.result, result.reports) == ("success", 42, [1])
