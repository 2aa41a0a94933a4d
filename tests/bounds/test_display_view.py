"""A view lets go of its run, keeps little, cannot fail a cell, and survives an export to HTML."""

from __future__ import annotations

import gc
import json
import re
import weakref
from typing import Any

import pytest
from ipywidgets.widgets import widget as ipywidgets_registry  # type: ignore[import-untyped]  # it has no types

from sandbox_kernel import CodeExecutionResult, run_code
from sandbox_kernel.clean import is_clean
from sandbox_kernel.execution import CodeExecution
from sandbox_kernel.notebook.view.late import LateView, forget_views
from sandbox_kernel.notebook.view.run_view import RunView
from sandbox_kernel.notebook.view.still import LISTED, plain_text
from sandbox_kernel.notebook.view.veil import veiled
from sandbox_kernel.notebook.view.widget import RunWidget, ViewCode
from sandbox_kernel.values import BigInt
from tests.bounds.hostile_values import EVIL, HOSTILE
from tests.markup import check_inert

KEPT = 20  # views of runs that are over


class Over:
    """A run that has ended, as a view sees it."""

    running = False
    memory_used_bytes = None
    calls: tuple[()] = ()

    def __init__(self, result: CodeExecutionResult) -> None:
        self.reports = result.reports
        self.logs = result.logs

    def terminate(self, reason: str | None = None) -> None:
        raise AssertionError("it is over")


def shown(reports: list[Any]) -> tuple[RunView, list[dict[str, Any]]]:
    """A view that has been through a whole run with these reports."""
    result = CodeExecutionResult("success", reports=reports)
    published: list[dict[str, Any]] = []
    view = RunView.watch(Over(result), lambda bundle, *_: published.append(bundle))
    view.finish(result)
    return view, published


def live_widgets() -> int:
    gc.collect()
    return sum(isinstance(each, RunWidget) for each in gc.get_objects())


def registered() -> int:
    return len(ipywidgets_registry._instances)


def test_a_view_lets_go_of_its_run_and_of_what_it_said() -> None:
    run: CodeExecution | None = run_code(
        "report('x'.repeat(1e6)); export default 1", report=lambda value: None
    )
    assert run is not None
    result: CodeExecutionResult | None = run.wait(60)
    assert result is not None
    view = RunView.watch(run, lambda *_: None)
    view.finish(result)
    assert view._widget is not None
    gone = weakref.ref(run)
    run = result = None
    gc.collect()
    assert gone() is None
    assert view._widget.head["reports"] == 1


def test_the_button_of_a_view_that_is_over_does_nothing() -> None:
    view, _ = shown([1])
    assert view._widget is not None
    view._widget._handle_custom_msg({"kind": "terminate"}, [])


def test_only_the_newest_views_stay() -> None:
    ViewCode.shared()
    forget_views()
    before = registered()
    for _ in range(3 * KEPT):
        shown(["x" * 1_000] * 100)
    assert registered() - before == 2 * KEPT  # each with its layout
    assert live_widgets() <= KEPT + 1
    forget_views()
    assert registered() == before
    assert live_widgets() <= 1


@pytest.mark.parametrize("name", HOSTILE)
def test_no_report_makes_a_view_fail(name: str) -> None:
    view, published = shown([HOSTILE[name]()] * 3)
    assert view._widget is not None
    assert "cannot be shown" not in published[-1]["text/plain"]
    assert len(published[-1]["text/plain"]) < 10_000
    assert len(published[-1]["text/html"]) < 60_000
    check_inert(published[-1]["text/html"])
    assert is_clean(published[-1]["text/html"])
    drawn = json.dumps([view._widget.window, view._widget.progress], ensure_ascii=False)
    assert len(drawn) < 300_000


def test_a_label_that_is_a_huge_number_is_cut() -> None:
    view, _ = shown([{"progress": 1, "label": BigInt(10**5000)}])
    assert view._widget is not None
    (bar,) = view._widget.progress
    assert len(bar[0]) < 120


def test_a_fault_in_the_view_is_told_and_fails_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: Any) -> str:
        raise OSError("a secret path")

    monkeypatch.setattr("sandbox_kernel.notebook.view.still.plain_text", broken)
    _, published = shown([1])
    assert published[-1] == {"text/plain": "Run view: cannot be shown (OSError)"}
    monkeypatch.setattr(LateView, "_watch", broken)
    late = LateView(Over(CodeExecutionResult("success")), lambda *_: None)
    late.finish(CodeExecutionResult("success", reports=[1]))


def test_the_text_of_a_view_lists_every_report_that_fits() -> None:
    result = CodeExecutionResult("success", reports=[["y" * 9_999] * 100] * 200)
    lines = [line for line in plain_text(result).split("\n") if re.match(r"\[\d+\] ", line)]
    assert len(lines) == LISTED


# ---- the export to HTML ----

SCRIPT = f"<!--<script>{EVIL}</script>"


def test_no_text_in_the_state_of_a_widget_has_a_less_than_sign() -> None:
    reports = [SCRIPT, {SCRIPT: [SCRIPT]}, {"progress": 1, "label": SCRIPT}, "\ue0001<"]
    view, _ = shown(reports)
    widget = view._widget
    assert widget is not None
    state = widget.get_state()
    assert "<" not in json.dumps([state["window"], state["progress"], state["head"]])
    states = [state, ViewCode.shared().get_state()]
    embedded = json.dumps(states, default=str).lower()  # as nbconvert puts it into a script element
    assert "<!--" not in embedded
    assert "<script" not in embedded


def test_a_veil_can_be_lifted() -> None:
    """As elements.js does it."""
    for text in ("a<b", "\ue000", "\ue0001", "<\ue000<0", "plain", SCRIPT):
        lifted = re.sub("\ue000([01])", lambda m: "<" if m[1] == "1" else "\ue000", veiled(text))
        assert lifted == text
        assert "<" not in veiled(text)
