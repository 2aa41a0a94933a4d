from __future__ import annotations

from collections.abc import Iterator

import pytest

pytest.importorskip("distributed")

from tests.cluster.clusters import Cluster


@pytest.fixture(scope="session")
def cluster() -> Iterator[Cluster]:
    """One for all tests that break nothing: a scheduler and two workers of four threads each."""
    with Cluster(workers=2, threads=4) as cluster:
        yield cluster


@pytest.fixture(scope="module")
def victims() -> Iterator[Cluster]:
    with Cluster(workers=2) as cluster:
        yield cluster


@pytest.fixture
def breakable(victims: Cluster) -> Cluster:
    """One that may be broken: it is mended for the next test."""
    victims.mend()
    return victims
