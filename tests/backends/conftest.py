from __future__ import annotations

from collections.abc import Iterator

import pytest

from sandbox_kernel import Engine
from sandbox_kernel.backend import Backend
from tests.backends.recorder import Recorder


@pytest.fixture(scope="module", params=["engine", "recorder"])
def backend(request: pytest.FixtureRequest) -> Iterator[Backend]:
    """Everything that can execute a run; the suite here is what each must keep."""
    if request.param == "recorder":
        yield Recorder()
        return
    with Engine(spares=2) as engine:
        yield engine
