"""The nearest name, and the sentence about it."""

from __future__ import annotations

import pytest

from sandbox_kernel.spelling import nearest, suggestion


@pytest.mark.parametrize(
    ("name", "similarity", "found"),
    [("imprt", 0.5, "import"), ("zzz", 0.5, None), ("globe", 0.9, None), ("", 0.5, None)],
)
def test_the_nearest_name_is_near_enough(name: str, similarity: float, found: str | None) -> None:
    assert nearest(name, ["import", "global"], similarity) == found


def test_a_suggestion_is_one_name_or_all_of_them() -> None:
    assert suggestion("globl", ["import", "global"], "--") == "did you mean --global?"
    assert suggestion("zzz", {"import": 1, "global": 2}, "--") == "known: --import, --global"
