"""A result is one output, small whatever its size, and host-made HTML holds only text."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given, settings

from sandbox_kernel.notebook.show.markup import element, text
from sandbox_kernel.notebook.show.result import result_bundle, result_metadata
from sandbox_kernel.values import BigInt, JSMap, Opaque, undefined
from tests.bounds.hostile_values import hostile_values
from tests.markup import check_inert

MARKUP = [
    "<img src=x onerror=alert(1)>",
    "</td></table><script>alert(1)</script>",
    "\"><b onmouseover='alert(1)'>",
    "$\\href{javascript:alert(1)}{x}$ and \\(x\\) and \\begin{a}",
    "&lt;b&gt; &#60;",
]


@pytest.mark.parametrize("evil", MARKUP)
@pytest.mark.parametrize("make", [
    lambda s: [{s: s, "list": [s]}],
    lambda s: {s: {s: [s] * 30, "more": list(range(200))}, "rest": [[s]] * 60},
    lambda s: JSMap([(s, JSMap([(s, s)])), *((i, [s] * 9) for i in range(50))]),
    lambda s: Opaque(s, s, {s: s, **{f"k{i}": "x" * 60 for i in range(60)}}),
])  # fmt: skip
def test_markup_in_a_value_is_text(make: Any, evil: str) -> None:
    read = check_inert(result_bundle(make(evil))["text/html"])
    assert evil in read.text


@settings(max_examples=30)
@given(hostile_values)
def test_any_value_is_inert(value: Any) -> None:
    for shown in (result_bundle(value), result_bundle([{"a": value}] * 30)):
        check_inert(shown.get("text/html", ""))


def test_text_cannot_leave_an_attribute() -> None:
    assert (
        element("div", text('"<'), title='a"b<c') == '<div title="a&quot;b&lt;c">&quot;&lt;</div>'
    )


def test_many_records_are_one_small_table() -> None:
    shown = result_bundle([{"id": i, "name": f"row {i}"} for i in range(10_000)])
    assert set(shown) == {"text/plain", "text/html"}
    assert shown["text/plain"].count("\n") == 24
    assert shown["text/plain"].endswith("... 9,980 more rows")
    assert "… 9,950 more rows of 10,000" in shown["text/html"]
    assert len(shown["text/html"]) < 30_000
    assert "max-height:" in shown["text/html"]


def test_records_with_nan_dates_and_arrays_keep_table_and_closed_tree() -> None:
    when = datetime(2020, 1, 2, tzinfo=UTC)
    shown = result_bundle([{"x": float("nan"), "when": when, "tags": ["a", "b"], "n": BigInt(2)}])
    read = check_inert(shown["text/html"])
    assert read.tags.count("td") == 5
    assert "[ 'a', 'b' ]" in read.text
    assert "1 row as a tree" in read.text
    assert "tags: Array(2) ['a', 'b']" in read.text
    assert "details" in read.tags
    assert "open" not in read.attributes


def test_numbers_are_aligned_right_and_strings_have_no_quotes() -> None:
    html = result_bundle([{"n": 1, "t": "x"}])["text/html"]
    assert 'text-align:right">1</td>' in html
    assert 'text-align:left">x</td>' in html


def test_a_small_value_of_json_is_a_tree_that_is_open() -> None:
    bundle = result_bundle({"a": {"b": [1, 2]}})
    assert bundle["application/json"] == {"a": {"b": [1, 2]}}
    assert result_metadata(bundle) == {"application/json": {"expanded": True}}


def test_a_tall_value_is_a_tree_in_a_box() -> None:
    value = {f"key {i}": {"name": "x" * 30, "more": ["y" * 70]} for i in range(50)}
    bundle = result_bundle(value)
    read = check_inert(bundle["text/html"])
    assert read.tags.count("details") > 50
    assert "open" in read.attributes
    assert len(bundle["text/html"]) < 60_000


def test_text_is_cut_with_a_count_of_lines() -> None:
    plain = result_bundle([["x" * 70, "y" * 70] for _ in range(100)])["text/plain"]
    assert plain.count("\n") == 200
    assert plain.endswith(" more lines")


@pytest.mark.parametrize(
    "value",
    [undefined, {"a": undefined}, [BigInt(1)], [float("nan")], [-0.0], b"x", {1: 2}, [2**60], 42,
     "text", None, True, list(range(60_000)), "x" * 600_000],
)  # fmt: skip
def test_what_is_short_or_no_json_comes_as_text_only(value: Any) -> None:
    assert set(result_bundle(value)) == {"text/plain"}
