"""The still output of a run: all that an export, a print or a reader without widgets has."""

from __future__ import annotations

from typing import Any

import pytest

from sandbox_kernel.contract import CodeExecutionLog, CodeExecutionResult
from sandbox_kernel.notebook.view.still import still_bundle, unfinished_bundle
from sandbox_kernel.notebook.view.tally import Tally
from tests.markup import Reader, check_inert


def still(*reports: Any, status: Any = "success", logs: int = 0) -> Reader:
    said = [CodeExecutionLog("log", ("x",), 0.0)] * logs
    result = CodeExecutionResult(status, reports=list(reports), duration_ms=2500.0)
    tally = Tally()
    tally.take(reports, said)
    return check_inert(still_bundle("key", result, tally)["text/html"])


def test_it_says_how_the_run_went() -> None:
    assert still(status="terminated", logs=3).text == "Terminated after 2.5 s, 0 reports, 3 logs"


def test_bars_plot_and_the_newest_reports_are_there() -> None:
    progress = {"progress": 30, "total": 60, "label": "Training"}
    read = still(*range(100), progress, {"a": {"b": 1}})
    assert "Training  50 % (30 of 60)" in read.text
    assert read.tags.count("path") == 1
    assert "100 numbers from 0 to 99, last 99" in read.text
    assert "… 91 earlier reports" in read.text
    assert "[101] { a: { b: 1 } }" in read.text
    assert "progress" not in read.text


def test_records_are_a_table_with_the_numbers_of_the_reports() -> None:
    read = still("other", *({"id": at, "name": f"n{at}"} for at in range(12)))
    assert read.tags.count("tr") == 11
    assert "312n1211" not in read.text
    assert read.text.endswith("1211n11")


@pytest.mark.parametrize(
    "evil", ["<script>alert(1)</script>", "$\\href{javascript:1}{x}$", '"><b>']
)
def test_texts_of_the_guest_are_text(evil: str) -> None:
    read = still(evil, {evil: [evil]}, {"progress": 1, "total": 2, "label": evil})
    assert read.text.replace("\\\\", "\\").count(evil) >= 3
    assert evil in still({evil: evil}).text


def test_extreme_numbers_still_make_a_line() -> None:
    assert still(1.7e308, -1.7e308).tags.count("path") == 1
    assert still(5, 5, 5).tags.count("path") == 1


def test_a_notebook_saved_during_the_run_says_so() -> None:
    bundle = unfinished_bundle("key")
    assert bundle["text/plain"] == "Run: still running when this was saved"
    assert "sandbox-run-still-key" in bundle["text/html"]
    check_inert(bundle["text/html"])
