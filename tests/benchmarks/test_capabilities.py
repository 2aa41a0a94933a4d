"""The benchmark of capabilities does the same in both ways; its timings are for people to read."""

from __future__ import annotations

from pathlib import Path

from benchmarks.capabilities import LOOP, measure, ways
from sandbox_kernel import open_code


async def test_each_way_gives_what_it_is_compared_with(tmp_path: Path) -> None:
    for pair in ways(tmp_path).values():
        given = []
        for way in pair:
            source = LOOP.format(head=way.head, call=way.call)
            async with open_code(source, way.options) as module:
                given.append(str(await module.go(3) or ""))
        assert given[0] == given[1]


async def test_every_way_is_measured(tmp_path: Path) -> None:
    found = await measure(count=5, times=1)
    assert set(found) == set(ways(tmp_path))
    assert all(each >= 0 for pair in found.values() for each in pair)  # a clock of ticks
