"""What an engine and this process hold on to, as the operating system counts it."""

from __future__ import annotations

import gc
import os
import threading

import psutil

from sandbox_kernel import run_code
from sandbox_kernel.engine import Engine
from tests.processes import gone
from tests.waiting import until

_LOOP_DESCRIPTORS = 3  # a selector and the pair of sockets that wakes it


def zygote_of(engine: Engine) -> int:
    """The process number of its zygote, which must be there."""
    zygote = engine.processes().zygote
    assert zygote is not None
    return zygote


def at_rest(engine: Engine) -> bool:
    """Whether nothing runs or waits, every spare is there, and no other worker lives."""
    processes = engine.processes()
    wanted = engine.spares if processes.zygote is not None else 0
    counts = engine.executing, engine.queued, len(processes.spares)
    alone = set(workers(engine)) == set(processes.spares) and not processes.other_zygotes
    return counts == (0, 0, wanted) and alone


def comes_to_rest(engine: Engine) -> bool:
    """Uses up a worker that was forked for a run which ended before it came, and is now a spare."""
    if engine.executing == 0 and len(engine.processes().spares) > engine.spares:
        works(engine)
    return at_rest(engine)


def descriptors(*engines: Engine) -> int:
    """Open in this process while these engines and the default one are at rest.

    Not those of the threads that hold an event loop for callers without one: they stay for the
    next run, and how many there are depends on how many runs overlapped. Those of a worker that
    died this moment may still be among them: ask for no more than before, not for as many.
    """
    for engine in (Engine.instance(), *engines):
        assert until(lambda: comes_to_rest(engine)), engine.processes()  # noqa: B023  # called at once
    loops = sum(thread.name == "sandbox-run" for thread in threading.enumerate())
    return len(os.listdir("/proc/self/fd")) - loops * _LOOP_DESCRIPTORS


def resident() -> int:
    gc.collect()
    return int(psutil.Process().memory_info().rss)


def workers(engine: Engine) -> list[int]:
    """Every live child of the engine's zygote, whether or not the engine knows of it."""
    zygote = engine.processes().zygote
    if zygote is None:
        return []
    try:
        found = psutil.Process(zygote).children()
    except psutil.NoSuchProcess:
        return []
    return [child.pid for child in found if not gone(child.pid)]


def works(engine: Engine | None = None) -> bool:
    """Whether the next run is as good as any."""
    run = run_code("report(1); export default 6 * 7", report=lambda value: None, engine=engine)
    result = run.wait(30)
    return (result.status, result.result, result.reports) == ("success", 42, [1])
