"""The real installed kernel, driven by a real client; one kernel serves a whole test module."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.clients import Client


@pytest.fixture(scope="module")
def kernel() -> Iterator[Client]:
    client = Client.start("sandbox")
    yield client
    client.close()


@pytest.fixture
def fresh_kernel() -> Iterator[Client]:
    """For tests that end it."""
    client = Client.start("sandbox")
    yield client
    client.close()
