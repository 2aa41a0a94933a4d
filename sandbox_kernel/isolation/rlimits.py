"""Resource limits that the operating system enforces for a process."""

from __future__ import annotations

import sys
from contextlib import suppress
from resource import RLIM_INFINITY, RLIMIT_AS, RLIMIT_CPU, getrlimit, setrlimit

from .steps import Step


def at_most(resource: int, most: int) -> Step:
    """Sets the limit, and the maximum to which the process could raise it."""
    return Step(f"setting limit {resource}", _lower, (resource, most, most))


def processor_seconds(seconds: int) -> Step:
    """After `seconds` the process gets SIGXCPU, so that the cause is known; a second later SIGKILL."""
    return Step("limiting processor time", _lower, (RLIMIT_CPU, seconds, seconds + 1))


def _lower(resource: int, limit: int, most: int) -> None:
    """What is limited further already, for whoever may not change that, stays so."""
    limit, most = min(limit, sys.maxsize), min(most, sys.maxsize)
    try:
        setrlimit(resource, (limit, most))
    except ValueError:
        _, ours = getrlimit(resource)
        setrlimit(resource, (min(limit, ours), min(most, ours)))


def address_space(size: int) -> None:
    """Limits it for good, or leaves it if it is limited further already. May raise."""
    _, most = getrlimit(RLIMIT_AS)
    limit = size if most == RLIM_INFINITY else min(size, most)
    setrlimit(RLIMIT_AS, (limit, limit))


def be_first_to_go() -> None:
    """Where Linux runs out of memory, it ends this process and its children before all others."""
    with suppress(OSError), open("/proc/self/oom_score_adj", "w") as file:
        file.write("1000")
