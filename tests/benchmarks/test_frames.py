"""The benchmark of frames lends each frame in each way; its timings are for people to read."""

from __future__ import annotations

from benchmarks.frames import WAYS, measure


def test_every_frame_crosses_in_every_way() -> None:
    found = measure(rows=200, times=1)
    assert len(found) == 3
    assert all(set(best) == set(WAYS) and min(best.values()) > 0 for best in found.values())
