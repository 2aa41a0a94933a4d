from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.contract.serving import Service, serving


@pytest.fixture(scope="session")
def service() -> Iterator[Service]:
    """One process as it is without settings; who needs others starts another."""
    with serving() as found:
        yield found
