"""The benchmark of the gate makes its calls in both ways; its timings are for people to read."""

from __future__ import annotations

from benchmarks.gates import measure


def test_calls_pass_with_and_without_a_policy() -> None:
    found = measure(calls=20, times=1)
    assert set(found) == {"without a policy", "a rule that allows"}
    assert all(each > 0 for both in found.values() for each in both)
