from __future__ import annotations

from collections.abc import Iterator

import pytest

from sandbox_kernel import Engine
from sandbox_kernel.backend import Backend
from tests.backends.recorder import Recorder
from tests.relaying import RelayBackend
from tests.service.behind import service_backend


@pytest.fixture(scope="module", params=["engine", "recorder", "relay", "service"])
def backend(request: pytest.FixtureRequest) -> Iterator[Backend]:
    """Everything that can execute a run; the suite here is what each must keep."""
    if request.param == "recorder":
        yield Recorder()
        return
    if request.param == "relay":
        with RelayBackend() as relay:
            yield relay
        return
    if request.param == "service":
        with service_backend() as service:
            yield service
        return
    with Engine(spares=2) as engine:
        yield engine
