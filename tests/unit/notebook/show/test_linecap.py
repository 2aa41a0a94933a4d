"""The first lines of a cell as they come, the last at its end, and a count of the others."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from sandbox_kernel.notebook.show.linecap import FIRST, LAST, LineCap


def lines(first: int, end: int) -> str:
    return "".join(f"line {at}\n" for at in range(first, end))


def test_few_lines_are_all_shown() -> None:
    cap = LineCap()
    assert cap.take("stdout", lines(0, FIRST)) == lines(0, FIRST)
    assert cap.rest() == []


def test_of_many_the_first_and_the_last_are_shown_and_the_others_counted() -> None:
    cap = LineCap()
    shown = "".join(cap.take("stdout", f"line {at}\n") for at in range(20_000))
    assert shown == lines(0, FIRST)
    (_, note), *last = cap.rest()
    assert note == "… 18,950 more lines, not shown\n"
    assert "".join(text for _, text in last) == lines(20_000 - LAST, 20_000)
    assert cap.rest() == []
    assert cap.take("stdout", "late\n") == ""
    assert cap.rest() == [("stdout", "late\n")]


def test_a_line_may_come_in_pieces_and_belongs_to_its_stream() -> None:
    cap = LineCap()
    cap.take("stdout", "x\n" * FIRST)
    for stream, text in (("stdout", "a"), ("stdout", "b\nc"), ("stderr", "d\n"), ("stdout", "e")):
        assert cap.take(stream, text) == ""  # type: ignore[arg-type]  # a str to mypy
    assert cap.rest() == [("stdout", "ab\n"), ("stderr", "cd\n"), ("stdout", "e\n")]


@given(st.lists(st.text("ab\n", max_size=40), max_size=200))
def test_nothing_is_kept_that_grows(pieces: list[str]) -> None:
    cap = LineCap()
    text = "".join(pieces) * 30
    shown = cap.take("stdout", text)
    rest = cap.rest()
    assert text.startswith(shown)
    assert shown.count("\n") <= FIRST
    assert len(rest) <= LAST + 1
    assert bool(rest) == (len(shown) < len(text))
