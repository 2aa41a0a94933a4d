"""The view of what has none of its own, a program or an agent: shown once a person is asked something."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from ...calls import Call
from ...contract import CodeExecutionLog, CodeExecutionResult

if TYPE_CHECKING:
    from ...contract import Status
    from .run_view import Publish, Questions


class AskedView:
    """Has the questions and a button that ends it all; what is printed stands below, as ever."""

    def __init__(
        self, terminate: Callable[[str | None], None], publish: Publish, desk: Questions
    ) -> None:
        from .run_view import RunView  # slow to load, and a notebook may never show a view

        self.running = True
        self.reports: Sequence[Any] = ()
        self.logs: Sequence[CodeExecutionLog] = ()
        self.calls: Sequence[Call] = ()
        self.memory_used_bytes: int | None = None
        self.terminate = terminate
        self._view = RunView.watch(self, publish, desk=desk, patience=math.inf)

    def finish(self, status: Status, duration_ms: float) -> None:
        self.running = False
        self._view.finish(CodeExecutionResult(status=status, duration_ms=duration_ms))
