"""A backend behind a real service process, for `tests.elsewhere`."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from sandbox_kernel.service import ServiceEngine
from tests.contract.serving import KEY, serving


class CountingEngine(ServiceEngine):
    """Knows whether it was used."""

    runs_begun = 0

    def start(self, order: Any, lent: Any, listener: Any, loop: asyncio.AbstractEventLoop) -> Any:
        self.runs_begun += 1
        return super().start(order, lent, listener, loop)


@contextmanager
def service_backend() -> Iterator[CountingEngine]:
    with (
        serving("--max-concurrent", "64", "--max-memory", "1GiB") as service,
        CountingEngine(service.url, KEY) as engine,
    ):
        yield engine
