"""What a cell's text makes happen: magics, bridges, modules, and the run."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from ..contract import CodeExecutionOptions, CodeExecutionResult
from ..engine import Engine
from ..errors import OptionError, SerializationError
from ..lending import lend
from ..notebook.interrupts import Guard, bind, guarded
from ..notebook.options.grammar import CellOptions, parse_options
from ..notebook.show.clean import clean, clean_line
from ..notebook.show.output import mimebundle, show, tree_metadata
from ..notebook.show.table import records_table
from ..notebook.show.traceback import Scene, Traceback, traceback_of
from ..notebook.view.late import LateView
from ..run import run_cell
from ..values import Undefined
from . import commands
from .bridge import BridgeFailed, bridge_name, load_bridge
from .cell import Cell, Magic, parse_cell
from .console import current_console
from .notebook_state import NotebookState
from .running import RunningCell


class CellFailed(Exception):
    """The cell ends in an error that is to be shown like this."""

    def __init__(self, traceback: Traceback) -> None:
        super().__init__(traceback.message)
        self.traceback = traceback


class Executor:
    """Executes one cell after the other of a notebook."""

    def __init__(self, state: NotebookState, guard: Guard) -> None:
        self._state = state
        self._guard = guard

    async def execute(self, text: str, running: RunningCell, number: int) -> None:
        """Raises `CellFailed` or an error of ours; all output has been handed over otherwise."""
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
                self._module(line, cell.body, running)
            case None if not cell.has_source:
                return
            case _:
                await self._run(cell.source, options, running, number)

    def close(self) -> None:
        """End the engine's processes now rather than when the kernel's process ends."""
        if Engine.initialized():
            Engine.instance().close()

    async def _bridge(self, name: str, cell: Cell, running: RunningCell) -> None:
        try:
            bridge = await running.carry(load_bridge(name, cell.body, cell.head, self._guard))
        except (BridgeFailed, asyncio.CancelledError) as failed:
            if running.stopped_by is not None:
                raise CellFailed(_terminated(running.stopped_by)) from None
            if not isinstance(failed, BridgeFailed):
                raise
            kind = type(failed.error).__name__
            lines = [clean(line) for line in failed.traceback]
            raise CellFailed(Traceback(kind, clean(str(failed.error)), lines)) from None
        _check_crossing(name, bridge.exports)
        self._state.bridges[name] = bridge
        running.say(clean(bridge.summary()))

    def _module(self, path: str, source: str, running: RunningCell) -> None:
        CodeExecutionOptions.of(modules={path: source})
        self._state.modules[path] = source
        running.say(clean_line(f"{path}: {len(source.strip().splitlines())} lines"))

    async def _run(
        self, source: str, options: CellOptions, running: RunningCell, number: int
    ) -> None:
        effective = options.over(self._state.defaults)
        given = self._state.run_options(options)
        suffix = "js" if effective.language == "javascript" else "ts"
        given.setdefault("filename", f"cell-{number}.{suffix}")
        scene = Scene(
            given["filename"], source, given["modules"], given["imports"], given["globals"]
        )
        enter = partial(current_console.set, running.console)
        around: Callable[..., Any] = partial(guarded, guard=self._guard, enter=enter)
        given["imports"] = {name: bind(each, around) for name, each in given["imports"].items()}
        given["globals"] = bind(given["globals"], around)
        run = run_cell(
            source,
            demand_export=effective.fn is not None,
            on_log=running.log,
            report=_keep,
            **given,
        )
        running.follow(run, effective.deadline)
        hidden = effective.no_widget or running.silent
        view = None if hidden else LateView(run, running.show)
        result = await run
        await running.console.drain()
        if view is not None:
            await view.finish(result)
        _conclude(result, scene, running, number)


def _check_crossing(name: str, exports: Mapping[str, Any]) -> None:
    """Refuse a bridge that no run could be given; the cell that made it is the place to say so."""
    try:
        lend("", CodeExecutionOptions.of(imports={name: exports}))
    except SerializationError as error:
        hint = "a name that starts with _ is not exported"
        raise OptionError(f"%%bridge {name} exports what cannot cross: {error}; {hint}") from None


def _run_options_of(cell: Cell) -> CellOptions:
    if cell.cell_magic is not None and cell.cell_magic.name == "runcode":
        return parse_options(cell.cell_magic.line, "kernel")
    return CellOptions()


def _keep(_value: Any) -> None:
    """Reports need a sink to exist at all; the view and the result read them from the run."""


def _conclude(result: CodeExecutionResult, scene: Scene, running: RunningCell, number: int) -> None:
    if result.status != "success":
        raise CellFailed(traceback_of(result, scene))
    if isinstance(result.result, Undefined):
        return
    table = records_table(result.result, show)
    if table is not None:
        running.publish("display_data", {"data": {"text/plain": table}, "metadata": {}})
    data: Mapping[str, Any] = mimebundle(result.result)
    metadata = tree_metadata(result.result)
    content = {"execution_count": number, "data": data, "metadata": metadata}
    running.publish("execute_result", content)


def _terminated(reason: str) -> Traceback:
    return Traceback("terminated", reason, [f"terminated: {reason}"])
