from __future__ import annotations

import logging
from collections.abc import Iterator

import pytest

from sandbox_kernel.engine import Engine
from tests.faults.health import at_rest
from tests.waiting import until


@pytest.fixture(autouse=True)
def quiet() -> Iterator[None]:
    """What bridges raise on purpose need not be logged, with a traceback each, by other threads."""
    log = logging.getLogger("asyncio")
    before = log.level
    log.setLevel(logging.CRITICAL + 1)
    yield
    log.setLevel(before)


@pytest.fixture
def engine() -> Iterator[Engine]:
    with Engine(spares=1, concurrency=8) as made:
        made.warm_up()
        assert until(lambda: at_rest(made))
        yield made
