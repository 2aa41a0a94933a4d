"""The benchmark of the service does the work that it times; no timing is judged here."""

from __future__ import annotations

from benchmarks.service import measure


def test_both_sides_do_the_work() -> None:
    found = measure(rounds=2, seconds=1.5)
    assert min(found) > 0
    assert "of the engine's own" in found.table()
