"""What a view keeps of a run: exact counts, and little else."""

from __future__ import annotations

import math
from typing import Any

import pytest

from sandbox_kernel.contract import CodeExecutionLog
from sandbox_kernel.notebook.view.tally import BUCKETS, NEWEST, Series, Tally, weight
from sandbox_kernel.values import BigInt, undefined


def tally_of(*reports: Any) -> Tally:
    tally = Tally()
    tally.take(reports, ())
    return tally


def test_the_count_is_exact_and_the_newest_are_kept() -> None:
    tally = tally_of(*range(100_000))
    window = tally.reports.since(0)
    assert tally.reports.count == 100_000
    assert (window["until"], len(window["items"])) == (100_000, NEWEST)
    assert window["items"][-1] == [99_999, ["number", "99999"]]


def test_only_what_is_new_is_taken() -> None:
    tally, reports = Tally(), [1, 2]
    assert tally.take(reports, ())
    assert not tally.take(reports, ())
    reports.append(3)
    assert tally.take(reports, ())
    assert tally.reports.since(2) == {"until": 3, "items": [[2, ["number", "3"]]]}


def test_a_window_of_large_reports_stays_small() -> None:
    tally = tally_of(*({"text": "x" * 1_000} for _ in range(1_000)))
    window = tally.reports.since(0)
    assert weight(window["items"]) < 100_000
    assert (window["until"], window["items"][-1][0]) == (1_000, 999)


def test_one_report_larger_than_the_window_still_shows() -> None:
    tally = tally_of([["x" * 1_000] * 60] * 60)
    assert len(tally.reports.since(0)["items"]) == 1


@pytest.mark.parametrize(
    ("report", "bar"),
    [
        ({"progress": 1, "total": 4}, ["", 0.25, "25 % (1 of 4)"]),
        ({"progress": 0.5, "label": "Half"}, ["Half", 0.5, "50 %"]),
        ({"progress": 17}, ["", None, "17"]),
        ({"progress": 9, "total": 3}, ["", 1.0, "100 % (9 of 3)"]),
        ({"progress": -1, "total": 3}, ["", 0.0, "0 % (-1 of 3)"]),
        ({"progress": 0.5, "total": undefined, "label": undefined}, ["", 0.5, "50 %"]),
    ],
)
def test_progress_becomes_a_bar(report: dict[str, Any], bar: list[Any]) -> None:
    assert tally_of(report).progress() == [bar]


@pytest.mark.parametrize(
    "report",
    [
        {"progress": "1"},
        {"progress": math.nan},
        {"progress": 1, "total": -1},
        {"progress": 1, "label": {}},
        {"progress": 1, "other": 2},
        {"progress": True},
        [0.5],
    ],
)
def test_what_only_looks_like_progress_is_no_bar(report: Any) -> None:
    assert tally_of(report).progress() == []


def test_a_bar_per_label_and_the_newest_of_very_many() -> None:
    tally = tally_of(*({"progress": 0.5, "label": f"task {at:04}"} for at in range(1_000)))
    assert len(tally.progress()) == 12
    assert tally.progress()[-1][0] == "task 0999"


def test_numbers_become_a_line() -> None:
    drawn = tally_of(1, 2.5, "no", True, BigInt(3), math.inf, None, -4).plot.drawn()
    assert [value for _, value in drawn["points"]] == [1, 2.5, -4]
    assert drawn["texts"] == ["-4", "2.5", "-4"]


def test_a_long_line_keeps_its_extremes_in_few_points() -> None:
    series = Series()
    for at in range(100_000):
        series.add(1_000_000 if at == 31_337 else at % 7)
    points = series.points()
    assert len(points) <= 2 * BUCKETS
    assert (31_337, 1_000_000) in points
    assert points == sorted(points)
    assert series.count == 100_000


def test_logs_are_lines_as_on_stdout() -> None:
    tally = Tally()
    tally.take((), [CodeExecutionLog("warn", ("a", {"b": 1}), 0.0)])
    assert tally.logs.since(0)["items"] == [[0, ["warn", "a { b: 1 }"]]]


def test_progress_is_counted_but_not_listed_and_pushes_nothing_out() -> None:
    progress = [{"progress": at, "total": 1_000} for at in range(1_000)]
    tally = tally_of("first", *progress, "last")
    assert (tally.reports.count, tally.reports.listed) == (1_002, 2)
    assert [number for number, _ in tally.reports.since(0)["items"]] == [0, 1_001]
