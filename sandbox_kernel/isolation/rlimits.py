"""Limits that the operating system keeps for a process."""

from __future__ import annotations

from resource import RLIMIT_CPU, setrlimit

from .steps import Step


def at_most(resource: int, most: int) -> Step:
    """Neither the limit nor what it may be raised to is more."""
    return Step(f"setting limit {resource}", setrlimit, (resource, (most, most)))


def processor_seconds(seconds: int) -> Step:
    """After these, SIGXCPU says why the process ends; after one more it is killed."""
    return Step("limiting processor time", setrlimit, (RLIMIT_CPU, (seconds, seconds + 1)))
