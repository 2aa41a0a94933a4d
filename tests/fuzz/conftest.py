"""How long to look: `SANDBOX_FUZZ=50` tries fifty times as many examples as CI does."""

from __future__ import annotations

import os

from hypothesis import HealthCheck, settings

TIMES = int(os.environ.get("SANDBOX_FUZZ", "1"))


def tries(count: int) -> settings:
    return settings(
        max_examples=count * TIMES,
        deadline=None,
        derandomize=TIMES == 1,
        suppress_health_check=list(HealthCheck),
    )
