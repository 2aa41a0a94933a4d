"""Kept values have their bounds, and cost only the cells that name them."""

from __future__ import annotations

import pytest

from sandbox_kernel.errors import OptionError
from sandbox_kernel.kernel import kept
from sandbox_kernel.kernel.kept import MOST_KEPT, KeptValues


def test_their_number_is_bounded() -> None:
    values = KeptValues()
    for at in range(MOST_KEPT):
        values.check(f"v{at}", {}, ())
        values.keep(f"v{at}", at)
    with pytest.raises(OptionError, match="100 values are kept already; %reset kept forgets them"):
        values.check("other", {}, ())
    values.check("v7", {}, ())  # replacing one needs no room


def test_their_size_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kept, "MOST_BYTES", 3 * 2**10)
    values = KeptValues()
    values.keep("text", "x" * 2000)
    with pytest.raises(OptionError, match=r"2\.0 KiB more would exceed the 3 KiB"):
        values.keep("array", bytes(2000))
    values.keep("text", "y" * 3000)  # takes the place of the first
    assert list(values) == ["text"]


def test_a_text_names_a_value_only_with_a_whole_word() -> None:
    values = KeptValues()
    values.keep("rows", [1])
    values.keep("$x", 2)
    assert values.mentioned_in(["browse(rows_)", "row$s.rows2"]) == {}
    assert values.mentioned_in(["a", "f($x)+rows.length"]) == {"rows": [1], "$x": 2}


def test_the_summary_is_short_whatever_is_kept() -> None:
    values = KeptValues()
    for name, value in {"n": 1, "text": "a" * 500, "list": [*range(99)], "o": {"a": 1}}.items():
        values.keep(name, value)
    assert values.summary().split("\n") == [
        "n: 1, 2 bytes",
        "text: String(500), 503 bytes",
        "list: Array(99), 289 bytes",
        "o: { a: 1 }, 8 bytes",
    ]
