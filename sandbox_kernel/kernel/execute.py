"""Executes a cell's text: its magics, bridges, modules, and the run."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from ..budget import more
from ..clean import clean, clean_line, clean_start
from ..engine import Engine
from ..errors import OptionError, SerializationError
from ..exports import check_crossing
from ..notebook.ask.rules import all_of
from ..notebook.assist.intrinsics import Intrinsics
from ..notebook.cellrun import CellRun
from ..notebook.interrupts import Guard
from ..notebook.modules import problem_in
from ..notebook.options.agent import parse_agent_options
from ..notebook.options.grammar import CellOptions, parse_options
from ..notebook.options.modules import check_module, module_text
from ..notebook.options.program import parse_program_options
from ..notebook.show.result import plain_result, result_metadata, rich_result
from ..notebook.show.traceback import Traceback
from ..spelling import suggestion
from ..values import Undefined
from . import commands
from .bridge import Bridge, BridgeFailed, bridge_line, load_bridge
from .cell import Cell, Magic, parse_cell
from .notebook_state import NotebookState
from .running import RunningCell

if TYPE_CHECKING:
    from ..notebook.agentcell import Conversations

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
        self._conversations: Conversations | None = None

    async def execute(self, text: str, running: RunningCell, number: int) -> None:
        """Raises `CellFailed` or `SandboxError`; if it returns, all output has been handed over."""
        cell = parse_cell(text)
        for magic in cell.line_magics:
            commands.check(magic)
        options = _run_options_of(cell)
        for magic in cell.line_magics:
            running.say(await self._answer(magic, running))
        match cell.cell_magic:
            case Magic(name="bridge", line=line):
                await self._bridge(*bridge_line(line), cell, running)
            case Magic(name="module", line=line):
                await self._module(line, cell.body, running)
            case Magic(name="runprogram", line=line):
                await self._program(line, cell.source, running, number)
            case Magic(name="agent", line=line):
                await self._agent(line, cell.body, running)
            case None if not cell.has_source:
                return
            case _:
                await self._run(cell.source, options, running, number)

    async def _answer(self, magic: Magic, running: RunningCell) -> str:
        if magic.name not in commands.SLOW:
            return commands.answer(magic, self._state)
        try:
            return await running.await_python(
                asyncio.to_thread(commands.answer, magic, self._state)
            )
        except asyncio.CancelledError:
            if running.stopped_by is None:
                raise
            raise CellFailed(_terminated(running.stopped_by)) from None

    def close(self) -> None:
        """Ends all processes now rather than when the kernel's process ends."""
        self._state.servers.close()
        if Engine.initialized():
            Engine.instance().close()

    async def _bridge(
        self, name: str, asks: list[str] | None, cell: Cell, running: RunningCell
    ) -> None:
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
        bridge = replace(bridge, asks=_asked_of(bridge, asks))
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
            asks=self._state.asks(effective.asks),
            line=running.line,
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

    async def _program(self, line: str, code: str, running: RunningCell, number: int) -> None:
        from ..notebook.programcell import ProgramCell  # most notebooks run none

        options = parse_program_options(line, "kernel")
        resolve = self._state.resolve_for_program
        given = options.run_options(resolve, self._state.lent_as)
        cell = ProgramCell(
            code,
            options,
            given,
            guard=self._guard,
            output=running,
            asks=self._state.asks(),
            line=running.line,
        )
        running.stop_with(cell)
        result = await cell.run()
        traceback = cell.finish(result)
        await running.console.drain()
        if traceback is not None:
            raise CellFailed(traceback)
        await _show_result(result.result, running, number)

    async def _agent(self, line: str, prompt: str, running: RunningCell) -> None:
        from ..notebook.agentcell import AgentCell, Conversations, scripted_or_remote

        options = parse_agent_options(line, "kernel")
        self._conversations = self._conversations or Conversations()
        resolve = self._state.resolve_for_program
        cell = AgentCell(
            prompt.strip(),
            options,
            model=scripted_or_remote(options.script and resolve(options.script)),
            functions=options.functions(resolve, self._state.lent_as),
            kept=self._conversations,
            line=running.line,
            guard=self._guard,
            output=running,
            asks=self._state.asks(),
        )
        running.stop_with(cell)
        try:
            await cell.run()
        except asyncio.CancelledError:
            if cell.stopped_by is None:
                raise
            raise CellFailed(_terminated(cell.stopped_by)) from None
        finally:
            await running.console.drain()

    async def _check_keep(self, name: str) -> None:
        built_in = {*await self._intrinsics.all(), "console", "report"}
        self._state.kept.check(name, self._state.defaults.globals, built_in)


def _asked_of(bridge: Bridge, asks: list[str] | None) -> tuple[str, ...]:
    if asks is None:
        return ()
    for each in asks:
        if each not in bridge.exports:
            known = suggestion(each, bridge.exports)
            raise OptionError(f"--ask {each}: {bridge.name} does not export it; {known}", "ask")
    named = [f"{bridge.name}.{each}" for each in asks] or [bridge.name]
    return tuple(pattern for name in named for pattern in all_of(name))


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
