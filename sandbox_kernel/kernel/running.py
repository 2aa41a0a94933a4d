"""One request to execute a cell: where its output goes, and how to stop it from any thread."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any, TypeVar

from ..contract import CodeExecutionLog
from ..notebook.cellrun import CellRun
from ..notebook.interrupts import Guard
from ..notebook.show.output import console_line
from ..notebook.show.traceback import Traceback
from .console import Console, Stream, current_console

T = TypeVar("T")
Publish = Callable[[str, dict[str, Any]], None]
"""Sends an IOPub message of this type and content under this cell, whatever else is going on."""

_STREAMS: dict[str, Stream] = {"warn": "stderr", "error": "stderr"}


class RunningCell:
    """Made when a cell starts, and gone when its reply is sent."""

    def __init__(
        self, parent: dict[str, Any], publish: Publish, guard: Guard, silent: bool = False
    ) -> None:
        self.parent = parent
        self.publish = publish
        self.display = None if silent else self._show
        self.console = Console(self._send_stream, asyncio.get_running_loop())
        self.stopped_by: str | None = None
        self._guard = guard
        self._run: CellRun | None = None
        self._loop = asyncio.get_running_loop()
        self._work: asyncio.Task[Any] | None = None

    def stop(self, reason: str) -> None:
        """From any thread; the run is dead when this returns, and the loop learns of it at once."""
        if self.stopped_by is not None:
            return
        self.stopped_by = reason
        if self._run is not None:
            self._run.stop(reason)
            return
        if self._work is not None:
            self._loop.call_soon_threadsafe(self._work.cancel)
        self.cut()
        self._guard.break_in()  # last, because in a signal handler it raises

    async def carry(self, work: Coroutine[Any, Any, T]) -> T:
        """Await Python of the author's that runs for this cell; stopping the cell cancels it."""
        self._work = self._loop.create_task(work)
        if self.stopped_by is not None:
            self._work.cancel()
        try:
            return await self._work  # type: ignore[no-any-return]  # a task of anything
        finally:
            self._work = None

    def follow(self, run: CellRun) -> None:
        """From now on stopping the cell is stopping this run."""
        self._run = run
        if self.stopped_by is not None:
            run.stop(self.stopped_by)

    # ---- the output of its run ----

    def log(self, log: CodeExecutionLog) -> None:
        """What the guest's console said."""
        self.console.write(_STREAMS.get(log.level, "stdout"), console_line(log))

    def report(self, value: Any) -> None:
        """The view shows it."""

    def enter(self) -> None:
        """Output of Python code that runs from here on belongs to this cell."""
        current_console.set(self.console)

    def cut(self) -> None:
        self.console.cut()

    def _show(self, bundle: dict[str, Any], display_id: str, update: bool) -> None:
        """A MIME bundle of the host's making, such as a widget."""
        kind = "update_display_data" if update else "display_data"
        transient = {"display_id": display_id}
        self.publish(kind, {"data": bundle, "metadata": {}, "transient": transient})

    # ---- the kernel's own ----

    def say(self, text: str) -> None:
        """What the kernel itself has to say, such as the answer to a magic."""
        self.console.write("stdout", text if text.endswith("\n") else text + "\n")

    def fail(self, traceback: Traceback) -> None:
        self.publish(
            "error",
            {"ename": traceback.name, "evalue": traceback.message, "traceback": traceback.lines},
        )

    def _send_stream(self, name: Stream, text: str) -> None:
        self.publish("stream", {"name": name, "text": text})
