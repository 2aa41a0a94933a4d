"""Many runs of one source: `run_many` gives a `ManyExecution`."""

from __future__ import annotations

from .execution import ManyExecution

__all__ = ["ManyExecution"]
