from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from tests.contract.serving import Service, serving
from tests.programs.attacks import victims


@pytest.fixture(scope="session")
def service() -> Iterator[Service]:
    """One process as it is without settings; who needs others starts another."""
    with serving() as found:
        yield found


@pytest.fixture
def host() -> Iterator[dict[str, Any]]:
    """A port, sockets and a file of the host's that any of its users could reach."""
    with victims() as found:
        yield found
