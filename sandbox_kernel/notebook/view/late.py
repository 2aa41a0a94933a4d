"""The live view of a run, started only if the run gives it something to do.

Most cells are over in a few milliseconds, sooner than a view and its thread would have begun.
"""

from __future__ import annotations

import sys
import threading
from contextlib import suppress
from contextvars import copy_context
from typing import TYPE_CHECKING, Any

from ...clock import clock
from ...contract import CodeExecutionResult

if TYPE_CHECKING:
    from .run_view import Publish, RunView, Watchable

PATIENCE = 0.03  # seconds


class LateView:
    """Watches from `PATIENCE` on; a run that ends before shows its reports when it has ended."""

    def __init__(self, run: Watchable, publish: Publish, *more: Any) -> None:
        """All of it is for a `RunView`."""
        self._given = run, publish, *more
        self._context = copy_context()  # knows the cell that output belongs to
        self._lock = threading.Lock()
        self._view: RunView | None = None
        self._over = False
        self._alarm = clock.after(PATIENCE, self._start)

    def finish(self, result: CodeExecutionResult) -> None:
        """Show the final state, if there is anything to see. Never fails."""
        self._alarm.cancel()
        with self._lock:
            if self._view is None and result.reports:
                with suppress(Exception):  # a cell does not fail because nobody can watch it
                    self._watch()
            self._over = True
        if self._view is not None:
            self._view.finish(result)

    def _start(self) -> None:
        with self._lock:
            if not self._over:
                self._watch()

    def _watch(self) -> None:
        from .run_view import RunView  # slow to load, and a notebook may never show a view

        self._view = self._context.run(RunView.watch, *self._given)


def forget_views() -> None:
    """Lets go of the views of runs that are over; pages that show them keep what they show."""
    widget = sys.modules.get(f"{__package__}.widget")  # slow to load, and there may be no view yet
    if widget is not None:
        widget.RunWidget.forget_all()
