"""One cell as a program, the same in the kernel and in the magic."""

from __future__ import annotations

import asyncio
from collections.abc import Collection
from typing import TYPE_CHECKING, Any, Protocol

from ..clean import clean
from ..contract import Status
from ..programs.contract import ProgramResult
from ..programs.handle import ProgramExecution
from ..programs.streams import Chunk
from ..run import run_program
from .ask.desk import Desk
from .ask.prompter import NotebookPrompter
from .ask.rules import all_of, policy_for
from .ask.stdin import Line
from .interrupts import Guard
from .options.program import ProgramCellOptions
from .show.linecap import Stream
from .show.program import error_of, list_of_files, notes_of, pictures_of, traceback_begin
from .show.traceback import Traceback
from .stopping import StoppableCell
from .view.asked import AskedView

if TYPE_CHECKING:
    from .view.run_view import Publish

_HELD_SECONDS = 1.0  # a traceback that is not followed by the program's end is output
_MOST_HELD = 100_000  # characters


class ProgramOutput(Protocol):
    """Where the output of a cell goes."""

    @property
    def display(self) -> Publish | None:
        """Shows questions; None where there is no page to show them."""

    def write(self, stream: Stream, text: str) -> None:
        """Text that is harmless to show."""

    def picture(self, bundle: dict[str, Any]) -> None:
        """A picture that the program made."""

    def end(self) -> None:
        """The program is over: show what was held back; its files come next."""

    def cut(self) -> None:
        """The program was stopped: do not wait for output that is not sent yet. From any thread."""


class ProgramCell(StoppableCell):
    """Made with everything that the program needs, run once, and finished with its result."""

    def __init__(
        self,
        code: str,
        options: ProgramCellOptions,
        given: dict[str, Any],
        *,
        guard: Guard,
        output: ProgramOutput,
        asks: Collection[str] = (),
        line: Line | None = None,
    ) -> None:
        """`given` is what the options resolve to. `asks` are patterns of names that a person is asked
        about in any case, `line` is the front end's `input()`."""
        super().__init__(guard, output)
        self.options = options
        self._code = code
        asked = [*asks, *(each for name in given.pop("asks", ()) for each in all_of(name))]
        self._given = given
        self._output = output
        self._run: ProgramExecution | None = None
        self._desk: Desk | None = None
        self._view: AskedView | None = None
        if given.get("tools"):
            self._desk = Desk() if output.display is not None else None
            given["policy"] = policy_for(asked, NotebookPrompter(line, self._desk))
        self._held = ""  # a traceback, which may be the cell's error
        self._timer: asyncio.TimerHandle | None = None

    async def run(self) -> ProgramResult:
        """Starts the program, passes its output on, and waits for its end."""
        self._run = run = run_program(self._code, self.options.language, **self._given)
        deadline = self.options.deadline
        if deadline is not None:
            run.terminate_after(deadline.seconds, deadline.reason)
        if self.stopped_by is not None:
            run.terminate(self.stopped_by)
        display = self._output.display
        if self._given.get("policy") and self._desk is not None and display is not None:
            self._view = AskedView(run.terminate, display, self._desk)
        try:
            async for chunk in run.stream():
                self._said(chunk)
            return await run
        except asyncio.CancelledError:
            self.stop("cancelled")
            raise
        finally:
            self._disarm()

    def end(self, reason: str) -> None:
        if self._run is not None:
            self._run.terminate(reason)

    def finish(self, result: ProgramResult) -> Traceback | None:
        """Shows the files; returns the traceback if the program failed."""
        error = error_of(result, self._held)
        if self._view is not None:
            self._view.finish(_status(result, error), result.duration_ms)
        if error is None:
            self._release()
        self._output.end()
        self._output.write("stderr", notes_of(result))
        self._output.write("stdout", list_of_files(result.output_files))
        for bundle in pictures_of(result.output_files):
            self._output.picture(bundle)
        return error

    def _said(self, chunk: Chunk) -> None:
        """A traceback is held back for a moment: it is the cell's error if it is the last word."""
        stream, text = chunk
        if stream == "stdout" or len(self._held) > _MOST_HELD:
            self._release()
        elif self._held:
            self._held += text
            return
        elif (at := traceback_begin(text)) is not None:
            text, self._held = text[:at], text[at:]
            self._timer = asyncio.get_running_loop().call_later(_HELD_SECONDS, self._release)
        self._output.write(stream, clean(text))

    def _release(self) -> None:
        self._disarm()
        held, self._held = self._held, ""
        self._output.write("stderr", clean(held))

    def _disarm(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
        self._timer = None


def _status(result: ProgramResult, error: Traceback | None) -> Status:
    if result.killed:
        return "terminated"
    if result.oom:
        return "memory"
    return "success" if error is None else "error"
