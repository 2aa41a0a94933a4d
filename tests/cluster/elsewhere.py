"""Backends for `-p tests.elsewhere`: an engine on a cluster that the caller has started."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from sandbox_kernel.backend import ActiveCode
from sandbox_kernel.cluster import DaskEngine
from tests.cluster.clusters import connected

ADDRESS = "SANDBOX_TESTS_CLUSTER"
TLS = "SANDBOX_TESTS_CLUSTER_TLS"  # the folder of its certificate


class Counted:
    """An engine, and how many runs it began."""

    serves = "run_code"

    def __init__(self, engine: Any) -> None:
        self._engine = engine
        self.runs_begun = 0

    def start(self, *given: Any) -> ActiveCode:
        self.runs_begun += 1
        started: ActiveCode = self._engine.start(*given)
        return started


@contextmanager
def _counted(*, direct: bool) -> Iterator[Counted]:
    tls = os.environ.get(TLS)
    with (
        connected(os.environ[ADDRESS], Path(tls) if tls else None) as client,
        DaskEngine(client, direct=direct) as engine,
    ):
        yield Counted(engine)


def direct() -> Any:
    return _counted(direct=True)


def relayed() -> Any:
    return _counted(direct=False)
