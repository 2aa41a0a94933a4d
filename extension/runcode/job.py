"""One cell as a run: text and options in, its output under its cell, its result out."""

from __future__ import annotations

import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING, Any

from sandbox_kernel.contract import CodeExecutionLog, CodeExecutionResult
from sandbox_kernel.execution import CodeExecution
from sandbox_kernel.notebook.interrupts import Guard, bind, guarded
from sandbox_kernel.notebook.options.grammar import CellOptions
from sandbox_kernel.notebook.show.output import console_line
from sandbox_kernel.notebook.show.traceback import Scene, traceback_of
from sandbox_kernel.run import run_cell

from .cell_error import CellError, cell_error
from .output import Reports

if TYPE_CHECKING:
    from sandbox_kernel.notebook.view.run_view import RunView


class Job:
    """A cell about to run. `start` runs it on the loop of the calling thread, if it has one."""

    def __init__(
        self, source: str, options: CellOptions, given: dict[str, Any], reports: Reports
    ) -> None:
        self.options = options
        self._source = source
        self._reports = reports
        self._scene = Scene(
            given["filename"],
            source,
            given["modules"],
            given["imports"],
            given["globals"],
            face="magic",
        )
        self._guard = Guard(partial(self.stop, "interrupted"))
        self._given = {**given, **self._guarded(given)}
        self._run: CodeExecution | None = None
        self._view: RunView | None = None
        self._stopped_by: str | None = None
        self._timer: threading.Timer | None = None

    def _guarded(self, given: dict[str, Any]) -> dict[str, Any]:
        """Bridged functions that an interrupt reaches into, should they block."""
        around: Callable[..., Any] = partial(guarded, guard=self._guard, enter=_nothing)
        imports = {name: bind(exports, around) for name, exports in given["imports"].items()}
        return {"imports": imports, "globals": bind(given["globals"], around)}

    def start(self) -> CodeExecution:
        """Begin; raises an error of ours if the options cannot be."""
        self._run = run = run_cell(
            self._source,
            demand_export=self.options.fn is not None,
            on_log=None if self.options.raw else _write_log,
            report=self._reports.take,
            **self._given,
        )
        if self._stopped_by is not None:
            run.terminate(self._stopped_by)
        if self.options.deadline is not None:
            # A thread, not a timer of the loop: a bridge that blocks the loop must not extend it.
            deadline = self.options.deadline
            self._timer = threading.Timer(deadline.seconds, self.stop, [deadline.reason])
            self._timer.daemon = True
            self._timer.start()
        self._view = self._reports.watch(run)
        return run

    def stop(self, reason: str) -> None:
        """From any thread or signal handler; only the first reason counts."""
        if self._stopped_by is None:
            self._stopped_by = reason
            if self._run is not None:
                self._run.terminate(reason)
            self._guard.break_in()

    @contextmanager
    def interruptible(self) -> Iterator[None]:
        """SIGINT stops the run instead of raising in whatever the loop is at."""
        if threading.current_thread() is not threading.main_thread():
            yield  # a subshell: signals are the main thread's
            return
        before = signal.getsignal(signal.SIGINT)
        self._guard.install()
        try:
            yield
        finally:
            signal.signal(signal.SIGINT, before)

    def finish(self, result: CodeExecutionResult) -> CellError | None:
        """Show the end of it; the error to raise if it failed."""
        if self._timer is not None:
            self._timer.cancel()
        if self._view is not None:
            self._view.finish_now(result)
        if result.status == "success":
            return None
        return cell_error(traceback_of(result, self._scene), result)


def _nothing() -> None:
    """A bridge prints to the cell that runs it anyway: ipykernel sees to that."""


def _write_log(log: CodeExecutionLog) -> None:
    stream = sys.stderr if log.level in ("warn", "error") else sys.stdout
    stream.write(console_line(log))
