"""Every default of an engine, with its unit.

Frozen, so that a run keeps the settings it began with. A NamedTuple rather than a dataclass,
because the first run needs it before anything slow to import is loaded.
"""

from __future__ import annotations

import os
import sys
from typing import NamedTuple


class Settings(NamedTuple):
    """What `Engine` has as traits; docs/configuration.md explains each."""

    spares: int = 4  # workers kept ready, about 3 MB each
    concurrency: int = max(8, 4 * (os.cpu_count() or 1))  # runs executing at once
    max_queued: int = 1000  # runs that wait for one of those to end
    queue_seconds: float = 0.0  # that a run may wait; 0: as long as it takes
    default_memory_limit_bytes: int = 64 * 2**20  # heap of a run that sets no limit
    cpu_seconds: int = 300  # processor time of one run
    output_bytes: int = 64 * 2**20  # host memory that one run's messages may occupy
    calls_in_flight: int = 2**14  # asynchronous bridge calls of one run at once
    message_bytes: int = 32 * 2**20  # the largest single message of a worker
    require_isolation: bool = sys.platform == "linux"  # refuse workers without a filter
