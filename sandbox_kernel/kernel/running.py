"""One request to execute a cell: where its output goes, and how to stop it from any thread."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from contextvars import ContextVar
from typing import Any, Protocol, TypeVar

from ..contract import CodeExecutionLog
from ..loans import Display, spelled_display
from ..notebook.ask.stdin import Line
from ..notebook.cellrun import CellRun
from ..notebook.interrupts import Guard
from ..notebook.show.linecap import Stream
from ..notebook.show.output import console_line
from ..notebook.show.traceback import Traceback
from .console import Console

T = TypeVar("T")
Publish = Callable[[str, dict[str, Any]], None]
"""Sends an IOPub message of this type and content, as output of this cell."""

_MOST_DISPLAYS = 200  # of bridges under one cell, since a guest decides how often it calls them
_STREAMS: dict[str, Stream] = {"warn": "stderr", "error": "stderr"}


class Stoppable(Protocol):
    """What a cell executes."""

    def stop(self, reason: str) -> None:
        """Callable from any thread."""


class RunningCell:
    """Lives from the start of a cell until its reply is sent."""

    def __init__(
        self, parent: dict[str, Any], publish: Publish, guard: Guard, silent: bool = False
    ) -> None:
        self.parent = parent
        self.publish = publish
        self.display = None if silent else self._show
        self.line: Line | None = None  # the front end's `input()`
        self.console = Console(self._send_stream, asyncio.get_running_loop())
        self.stopped_by: str | None = None
        self._guard = guard
        self._run: Stoppable | None = None
        self._displayed = 0
        self._loop = asyncio.get_running_loop()
        self._work: asyncio.Task[Any] | None = None

    def stop(self, reason: str) -> None:
        """Callable from any thread. When it returns, the run is dead and the loop has been told."""
        if self.stopped_by is not None:
            return
        self.stopped_by = reason
        if self._run is not None:
            self._run.stop(reason)
            return
        if self._work is not None:
            self._loop.call_soon_threadsafe(self._work.cancel)
        self.cut()
        self._guard.break_in()  # last, because it raises in a signal handler

    async def await_python(self, work: Coroutine[Any, Any, T]) -> T:
        """Awaits the author's Python code for this cell; stopping the cell cancels it."""
        self._work = self._loop.create_task(work)
        if self.stopped_by is not None:
            self._work.cancel()
        try:
            return await self._work  # type: ignore[no-any-return]  # a task of anything
        finally:
            self._work = None

    def follow(self, run: CellRun) -> None:
        """From now on, stopping the cell stops this run, and its view stands above its output."""
        if run.options.shows_reports and self.display is not None:
            self.console.hold()
        self.stop_with(run)

    def stop_with(self, run: Stoppable) -> None:
        """From now on, stopping the cell stops this too."""
        self._run = run
        if self.stopped_by is not None:
            run.stop(self.stopped_by)

    # ---- the output of its run ----

    def log(self, log: CodeExecutionLog) -> None:
        """A call of the guest's console."""
        self.console.write(_STREAMS.get(log.level, "stdout"), console_line(log))

    def write(self, stream: Stream, text: str) -> None:
        """What a program says."""
        self.console.write(stream, text)

    def picture(self, bundle: dict[str, Any]) -> None:
        """A picture of a program, after what was printed before it."""
        self.console.flush()
        self.publish("display_data", {"data": bundle, "metadata": {}, "transient": {}})

    def show(self, display: Display) -> None:
        """A table, chart or image of a cell, after what was printed before it."""
        if self.display is not None:
            self.picture(spelled_display(display))

    def report(self, value: Any) -> None:
        """Nothing to do: the view reads reports from the run itself."""

    def enter(self) -> None:
        """Output of Python code that runs from here on belongs to this cell."""
        current_cell.set(self)

    def end(self) -> None:
        """Nothing to do: the console is drained before the cell's reply."""

    def cut(self) -> None:
        self.console.cut()

    def _show(self, bundle: dict[str, Any], display_id: str, update: bool) -> None:
        """Displays a MIME bundle that the host made, such as a widget."""
        kind = "update_display_data" if update else "display_data"
        transient = {"display_id": display_id}
        self.publish(kind, {"data": bundle, "metadata": {}, "transient": transient})
        if not update:
            self.console.flush()

    # ---- what bridges display ----

    def show_python(self, kind: str, content: dict[str, Any]) -> None:
        """Publishes what a bridge displays, after what was printed before it."""
        self._displayed += 1
        if self._displayed <= _MOST_DISPLAYS:
            self.console.flush()
            self.publish(kind, content)
        elif self._displayed == _MOST_DISPLAYS + 1:
            note = f"… more than {_MOST_DISPLAYS} displays in one cell, the others are not shown\n"
            self.console.write("stderr", note)

    # ---- the kernel's own output ----

    def say(self, text: str) -> None:
        """Prints text of the kernel itself, such as the answer to a magic."""
        self.console.write("stdout", text if text.endswith("\n") else text + "\n")

    def fail(self, traceback: Traceback) -> None:
        self.publish(
            "error",
            {"ename": traceback.name, "evalue": traceback.message, "traceback": traceback.lines},
        )

    def _send_stream(self, name: Stream, text: str) -> None:
        self.publish("stream", {"name": name, "text": text})


current_cell: ContextVar[RunningCell | None] = ContextVar("current_cell", default=None)
"""The cell that output of Python code belongs to; threads start without one."""
