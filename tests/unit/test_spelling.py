"""The nearest name, and the sentence about it."""

from __future__ import annotations

import pytest

from sandbox_kernel.spelling import nearest, suggestion, synonyms


@pytest.mark.parametrize(
    ("name", "similarity", "found"),
    [("imprt", 0.5, "import"), ("zzz", 0.5, None), ("globe", 0.9, None), ("", 0.5, None)],
)
def test_the_nearest_name_is_near_enough(name: str, similarity: float, found: str | None) -> None:
    assert nearest(name, ["import", "global"], similarity) == found


def test_a_suggestion_is_one_name_or_all_of_them() -> None:
    assert suggestion("globl", ["import", "global"], "--") == "did you mean --global?"
    assert suggestion("zzz", {"import": 1, "global": 2}, "--") == "known: --import, --global"


OTHERS = synonyms(deadline="timeout time_limit", memory="mem")


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("timeout", "did you mean --deadline?"),
        ("time-limit", "did you mean --deadline?"),
        ("MEM", "did you mean --memory?"),
        ("deadlin", "did you mean --deadline?"),
        ("zzz", "known: --deadline, --memory"),
    ],
)
def test_a_synonym_is_meant_even_if_it_is_spelled_otherwise(name: str, said: str) -> None:
    assert suggestion(name, ["deadline", "memory"], "--", others=OTHERS) == said


def test_a_synonym_of_what_is_not_known_here_is_not_suggested() -> None:
    assert suggestion("timeout", ["memory"], others=OTHERS) == "known: memory"


def test_wrong_guesses_of_the_past_are_not_made() -> None:
    assert nearest("timeout", ["imports", "import"]) is None
    assert nearest("py", ["delta"]) is None
    assert nearest("Point", ["nt"]) is None
    assert nearest("json", ["open"]) is None


def test_many_or_long_names_cost_little() -> None:
    assert nearest("x" * 10_000, ["x" * 9_999]) is None
    assert nearest("name5", (f"name{n}" for n in range(10**9))) == "name5"
