"""One cell as a run, the same in the kernel and in the magic.

A `CellRun` is given the text, the options and what they name. During the run, console calls and
reports go to an `Output`. Afterwards there is a result, and a traceback if the run failed.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any, Protocol

from ..capabilities.showing import Displaying, display
from ..contract import CodeExecutionLog, CodeExecutionResult
from ..execution import CodeExecution, call_after
from ..explain.scene import Scene
from ..loans import Capability, Display
from ..run import run_cell
from .ask.desk import Desk
from .ask.prompter import NotebookPrompter
from .ask.rules import policy_for
from .ask.stdin import Line
from .earlier import EarlierCells
from .interrupts import Guard, bind, guarded
from .options.grammar import CellOptions, Face
from .show.traceback import Traceback, traceback_of
from .stopping import StoppableCell
from .view.late import LateView

if TYPE_CHECKING:
    from .view.run_view import Publish


class Output(Protocol):
    """Where the output of a cell goes."""

    @property
    def display(self) -> Publish | None:
        """Shows the live view; None where there is no page to show it."""

    def log(self, log: CodeExecutionLog) -> None:
        """The guest called a method of its console."""

    def report(self, value: Any) -> None:
        """The guest reported a value; a view reads it from the run itself."""

    def show(self, display: Display) -> None:
        """The guest showed a table, a chart or an image, which the host made."""

    def enter(self) -> None:
        """A bridged function is about to be called: what it prints belongs to this cell."""

    def end(self) -> None:
        """The run is over: show what was held back."""

    def cut(self) -> None:
        """The run was stopped: do not wait for output that is not sent yet. From any thread."""


class CellRun(StoppableCell):
    """Made with everything that the run needs, started once, and finished with its result."""

    def __init__(
        self,
        source: str,
        options: CellOptions,
        given: dict[str, Any],
        *,
        number: int,
        face: Face,
        guard: Guard,
        output: Output,
        earlier: EarlierCells,
        classes: Mapping[str, Collection[str]],
        is_outside: Callable[[str], bool] | None = None,
        asks: Collection[str] = (),
        line: Line | None = None,
    ) -> None:
        """`options` are the effective ones; `given` is what they resolve to, for `run_cell`.

        `classes` are those that lent modules have and do not export. `is_outside` tells whether the notebook
        has a variable that could be lent. `asks` are patterns of names that a person is asked about,
        `line` is the front end's `input()`.
        """
        super().__init__(guard, output)
        self.options = options
        self._source = source
        self._output = output
        named = {"filename": _filename(number, options), **given}
        self._scene = Scene(
            filename=named["filename"],
            source=source,
            modules=named["modules"],
            imports=named["imports"],
            globals=named["globals"],
            face=face,
            classes=classes,
            cell_of=earlier.cell_of,
        )
        if is_outside is not None:
            self._scene = self._scene._replace(is_outside=is_outside)
        self._number = number
        self._earlier = earlier
        self._given = {**named, **self._guarded(named)}
        shows = options.shows_reports and output.display is not None
        self._desk = Desk() if shows else None
        policy = policy_for(asks, NotebookPrompter(line, self._desk, source))
        if policy is not None:
            self._given["policy"] = policy
        self._run: CodeExecution | None = None
        self._view: LateView | None = None

    def _guarded(self, given: dict[str, Any]) -> dict[str, Any]:
        """The bridged functions, wrapped so that an interrupt reaches them if they block."""
        around: Callable[..., Any] = partial(guarded, guard=self._guard, enter=self._output.enter)
        imports = {name: bind(exports, around) for name, exports in given["imports"].items()}
        bound = {"imports": imports, "globals": bind(given["globals"], around)}
        return {**bound, "lend": {n: self._shown(c) for n, c in given.get("lend", {}).items()}}

    def _shown(self, capability: Capability) -> Capability:
        """What a cell shows stands under it."""
        return display(self._output.show) if isinstance(capability, Displaying) else capability

    def start(self) -> CodeExecution:
        """Starts the run, on the calling thread's loop if there is one. Raises what `run_cell` raises."""
        self._run = run = run_cell(
            self._source,
            demand_export=self.options.fn is not None,
            on_log=self._output.log,
            report=self._output.report,
            **self._given,
        )
        if self.stopped_by is not None:
            run.terminate(self.stopped_by)
        deadline = self.options.deadline
        if deadline is not None:
            call_after(run, deadline.seconds, partial(self.stop, deadline.reason))
        if self.options.shows_reports and self._output.display is not None:
            in_background = bool(self.options.background)
            self._view = LateView(run, self._output.display, in_background, self._desk)
        return run

    async def run(self) -> CodeExecutionResult:
        """Starts the run and waits for its result; cancelling the wait stops the run."""
        try:
            return await self.start()
        except asyncio.CancelledError:
            self.stop("cancelled")
            raise

    def end(self, reason: str) -> None:
        if self._run is not None:
            self._run.terminate(reason)

    def finish(self, result: CodeExecutionResult) -> Traceback | None:
        """Completes the view; returns the traceback if the run failed."""
        if self._view is not None:
            self._view.finish(result)
        self._output.end()
        traceback = None if result.status == "success" else traceback_of(result, self._scene)
        self._earlier.add(self._number, self._source)
        return traceback


def _filename(number: int, options: CellOptions) -> str:
    """The name in stack traces, with the number that stands beside the cell."""
    return f"cell-{number}.{'js' if options.language == 'javascript' else 'ts'}"
