"""Executes a cell's text: its magics, bridges, modules, and the run."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from typing import Any

from ..budget import more
from ..clean import clean, clean_line, clean_start
from ..engine import Engine
from ..errors import OptionError, SerializationError
from ..exports import check_crossing
from ..notebook.assist.intrinsics import Intrinsics
from ..notebook.cellrun import CellRun
from ..notebook.interrupts import Guard
from ..notebook.modules import problem_in
from ..notebook.options.grammar import CellOptions, parse_options
from ..notebook.options.modules import check_module, module_text
from ..notebook.show.result import plain_result, result_metadata, rich_result
from ..notebook.show.traceback import Traceback
from ..values import Undefined
from . import commands
from .bridge import BridgeFailed, bridge_name, load_bridge
from .cell import Cell, Magic, parse_cell
from .notebook_state import NotebookState
from .running import RunningCell

_TRACEBACK_LINES = 200  # of the author's Python; the last ones say what went wrong
_TRACEBACK_TEXT = 10_000  # characters of each


class CellFailed(Exception):
    """The cell failed; `traceback` is how to show it."""

    def __init__(self, traceback: Traceback) -> None:
        super().__init__(traceback.message)
        self.traceback = traceback


class Executor:
    """Executes the cells of a notebook, one after the other."""

    def __init__(
        self,
        state: NotebookState,
        guard: Guard,
        intrinsics: Intrinsics,
        prepare_python: Callable[[], None],
    ) -> None:
        """`prepare_python` is called before the Python of a bridge runs."""
        self._state = state
        self._guard = guard
        self._intrinsics = intrinsics
        self._prepare_python = prepare_python

    async def execute(self, text: str, running: RunningCell, number: int) -> None:
        """Raises `CellFailed` or `SandboxError`; if it returns, all output has been handed over."""
        cell = parse_cell(text)
        for magic in cell.line_magics:
            commands.check(magic)
        options = _run_options_of(cell)
        for magic in cell.line_magics:
            running.say(commands.answer(magic, self._state))
        match cell.cell_magic:
            case Magic(name="bridge", line=line):
                await self._bridge(bridge_name(line), cell, running)
            case Magic(name="module", line=line):
                await self._module(line, cell.body, running)
            case None if not cell.has_source:
                return
            case _:
                await self._run(cell.source, options, running, number)

    def close(self) -> None:
        """Ends the engine's processes now rather than when the kernel's process ends."""
        if Engine.initialized():
            Engine.instance().close()

    async def _bridge(self, name: str, cell: Cell, running: RunningCell) -> None:
        self._prepare_python()
        try:
            bridge = await running.await_python(
                load_bridge(name, cell.body, cell.head, self._guard)
            )
        except (BridgeFailed, asyncio.CancelledError) as failed:
            if running.stopped_by is not None:
                raise CellFailed(_terminated(running.stopped_by)) from None
            if not isinstance(failed, BridgeFailed):
                raise
            kind = type(failed.error).__name__
            lines = [_shown(line) for line in failed.traceback[-_TRACEBACK_LINES:]]
            raise CellFailed(Traceback(kind, _shown(str(failed.error)), lines)) from None
        _check_crossing(name, bridge.exports)
        self._state.bridges[name] = bridge
        running.say(clean(bridge.summary()))

    async def _module(self, path: str, source: str, running: RunningCell) -> None:
        check_module("%%module", path, source)
        text = module_text(path, source)
        problem = await problem_in(path, text, "kernel")
        if problem is not None:
            raise CellFailed(problem)
        self._state.modules[path] = text
        running.say(clean_line(commands.describe_module(path, source)))

    async def _run(
        self, source: str, options: CellOptions, running: RunningCell, number: int
    ) -> None:
        effective = self._state.effective(options)
        given = self._state.run_options(effective, source)
        if options.keep is not None:
            await self._check_keep(options.keep)
        cell = CellRun(
            source,
            effective,
            given,
            number=number,
            face="kernel",
            guard=self._guard,
            output=running,
            earlier=self._state.earlier,
            classes={name: bridge.classes for name, bridge in self._state.bridges.items()},
        )
        running.follow(cell)
        result = await cell.run()
        await running.console.drain()
        traceback = cell.finish(result)
        if traceback is not None:
            raise CellFailed(traceback)
        await _show_result(result.result, running, number)
        if options.keep is not None:
            self._state.kept.keep(options.keep, result.result)

    async def _check_keep(self, name: str) -> None:
        built_in = {*await self._intrinsics.all(), "console", "report"}
        self._state.kept.check(name, self._state.defaults.globals, built_in)


def _check_crossing(name: str, exports: Mapping[str, Any]) -> None:
    """Refuses a bridge that could not be lent to any run, in the cell that defines it."""
    try:
        check_crossing(exports, f"imports[{name!r}]")
    except SerializationError as error:
        hint = "start the name with _ to keep it out of the exports"
        raise OptionError(
            f"%%bridge {name} exports a value that cannot cross: {error}; {hint}"
        ) from None


def _run_options_of(cell: Cell) -> CellOptions:
    if cell.cell_magic is not None and cell.cell_magic.name == "runcode":
        return parse_options(cell.cell_magic.line, "kernel")
    return CellOptions()


async def _show_result(value: Any, running: RunningCell, number: int) -> None:
    if isinstance(value, Undefined):
        return
    plain = plain_result(value)
    await asyncio.sleep(0)  # each rendering is a turn of its own
    data = {"text/plain": plain, **rich_result(value, plain)}
    content = {"execution_count": number, "data": data, "metadata": result_metadata(data)}
    running.publish("execute_result", content)


def _shown(text: str) -> str:
    shown, left = clean_start(text, _TRACEBACK_TEXT)
    return shown + more(left) if left else shown


def _terminated(reason: str) -> Traceback:
    return Traceback("terminated", reason, [f"terminated: {reason}"])
