"""What the operating system says about processes that are not ours to ask."""

from __future__ import annotations

import psutil


def gone(pid: int) -> bool:
    """Whether a process has ended; nobody may have reaped it yet."""
    try:
        return bool(psutil.Process(pid).status() == psutil.STATUS_ZOMBIE)
    except psutil.NoSuchProcess:
        return True


def processor_seconds(pid: int) -> float:
    """Processor time that a process has used so far; none of one that has ended."""
    try:
        times = psutil.Process(pid).cpu_times()
    except psutil.NoSuchProcess:
        return 0.0
    return float(times.user + times.system)
