"""The live view of a run, started only if the run gives it something to do.

Most cells are over in a few milliseconds, sooner than a view and its thread would have begun.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from ...contract import CodeExecutionResult
from ...execution import CodeExecution

if TYPE_CHECKING:
    from .run_view import RunView

PATIENCE = 0.03  # seconds


class LateView:
    """Watches from `PATIENCE` on; a run that ends before shows its reports when it has ended."""

    def __init__(
        self, run: CodeExecution, publish: Callable[[dict[str, Any], str, bool], None]
    ) -> None:
        self._run = run
        self._publish = publish
        self._view: RunView | None = None
        self._timer = asyncio.get_running_loop().call_later(PATIENCE, self._start)

    async def finish(self, result: CodeExecutionResult) -> None:
        self._timer.cancel()
        if self._view is None and result.reports:
            self._start()
        if self._view is not None:
            await self._view.finish(result)

    def _start(self) -> None:
        from .run_view import RunView

        self._view = RunView.watch(self._run, self._publish)
