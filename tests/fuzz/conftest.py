"""How long to look: CI tries a third of each number of examples, `SANDBOX_FUZZ=50` fifty times as many."""

from __future__ import annotations

import os

from hypothesis import HealthCheck, settings

TIMES = int(os.environ.get("SANDBOX_FUZZ", "1"))


def tries(count: int) -> settings:
    return settings(
        max_examples=count // 3 if TIMES == 1 else count * TIMES,
        deadline=None,
        derandomize=TIMES == 1,
        suppress_health_check=list(HealthCheck),
    )
