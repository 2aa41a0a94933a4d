"""Resource limits that the operating system enforces for a process."""

from __future__ import annotations

from resource import RLIMIT_CPU, setrlimit

from .steps import Step


def at_most(resource: int, most: int) -> Step:
    """Sets the limit, and the maximum to which the process could raise it."""
    return Step(f"setting limit {resource}", setrlimit, (resource, (most, most)))


def processor_seconds(seconds: int) -> Step:
    """After `seconds` the process gets SIGXCPU, so that the cause is known; a second later SIGKILL."""
    return Step("limiting processor time", setrlimit, (RLIMIT_CPU, (seconds, seconds + 1)))
