"""A view that begins only if the run lasts, or has reported something when it ends."""

from __future__ import annotations

import threading
from typing import Any

import pytest

from sandbox_kernel.notebook.view import late
from sandbox_kernel.run import run_code
from tests.waiting import until


class Gate:
    """A run that reports once, and goes on when it may."""

    def __init__(self) -> None:
        self.opened = threading.Event()
        self.reported = threading.Event()
        self.shown: list[str] = []
        self._others = set(threading.enumerate())
        self.run = run_code(
            "report('here'); gate()",
            globals={"gate": lambda: self.opened.wait(20)},
            report=lambda value: self.reported.set(),
        )
        self.view = late.LateView(self.run, self.publish)

    @property
    def is_watched(self) -> bool:
        begun = set(threading.enumerate()) - self._others
        return any(thread.name == "run view" for thread in begun)

    def publish(self, bundle: dict[str, Any], display_id: str, update: bool) -> None:
        self.shown.append(bundle["text/plain"])

    def finish(self) -> None:
        self.opened.set()
        self.view.finish(self.run.wait(20))


def test_a_run_that_is_over_before_is_shown_when_it_has_ended(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(late, "PATIENCE", 600)
    gate = Gate()
    assert gate.reported.wait(20)
    assert not gate.is_watched
    assert gate.shown == []
    gate.finish()
    assert gate.shown[-1].endswith("[0] 'here'")


def test_a_run_that_lasts_is_watched_by_a_thread() -> None:
    gate = Gate()
    assert until(lambda: gate.shown)
    assert gate.is_watched
    gate.finish()
    assert not gate.is_watched
    assert gate.shown[-1].endswith("[0] 'here'")


def test_nothing_begins_after_the_end() -> None:
    gate = Gate()
    gate.finish()
    shown = list(gate.shown)
    gate.view._start()  # its alarm, had it been cancelled a moment too late
    assert not gate.is_watched
    assert gate.shown == shown
