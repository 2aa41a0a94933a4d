"""The benchmark of tools does what it times; its timings are for people to read."""

from __future__ import annotations

from benchmarks.tools import measure, ways


def test_each_way_gives_what_it_is_compared_with() -> None:
    for work, beside in ways(count=5).values():
        assert work() == beside()


def test_every_way_is_measured() -> None:
    assert set(measure(count=5, times=1)) == set(ways(5))
