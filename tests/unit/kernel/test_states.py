"""A page that was loaded asks for the state of every widget, while other threads make some."""

from __future__ import annotations

from typing import Any

import pytest
from ipywidgets import Widget  # type: ignore[import-untyped]  # it has no types

from sandbox_kernel.kernel import kernel


@pytest.mark.parametrize("failures", [0, 1, 4])
def test_a_widget_that_is_made_meanwhile_costs_no_answer(
    monkeypatch: pytest.MonkeyPatch, failures: int
) -> None:
    answered: list[Any] = []
    changes = iter([RuntimeError("dictionary changed size during iteration")] * failures)

    def answer(message: Any) -> None:
        for change in changes:
            raise change
        answered.append(message)

    monkeypatch.setattr(Widget, "_handle_control_comm_msg", answer)
    monkeypatch.setattr(kernel, "colour_cells", lambda: answered.append("colours"))
    kernel._states_asked({"content": {}})
    assert answered == [{"content": {}}, "colours"]
