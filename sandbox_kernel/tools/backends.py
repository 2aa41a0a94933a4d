"""Backends of `code_execution`: isolated programs of one runtime each."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from inspect import signature
from typing import Any, ClassVar

from ..errors import SandboxError
from ..programs.contract import ProgramOptions, ProgramResult
from ..run import run_program
from .code_execution import CodeExecutionRequest
from .results import ToolContext
from .toolbox import ForCode, Toolbox

_OPTIONS = frozenset(signature(run_program).parameters) - {"code", "language", "engine", "unknown"}


def check_program_options(runtime: str, options: Mapping[str, Any]) -> None:
    """Those of `run_program`: refused now rather than at a call."""
    given = {name: value for name, value in options.items() if name != "engine"}
    known = {name: given.pop(name) for name in _OPTIONS if name in given}
    ProgramOptions.of("", runtime, known, given)


class UnsupportedLanguageError(SandboxError, ValueError):
    """The backend does not run this language; the message names what it runs."""


class ProgramBackend:
    """Runs each request as a program of its own; `options` are those of `run_program`."""

    runtimes: ClassVar[Mapping[str, str]]  # by the languages that it takes

    def __init__(self, **options: Any) -> None:
        tools = options.get("tools")
        if isinstance(tools, Mapping | list | tuple):
            options["tools"] = Toolbox(tools) if tools else None
        check_program_options(next(iter(self.runtimes.values())), options)
        self._options = options

    async def exec(self, request: CodeExecutionRequest, context: ToolContext) -> dict[str, Any]:
        runtime = self.runtimes.get(request.language.casefold().strip())
        if runtime is None:
            known = ", ".join(self.runtimes)
            raise UnsupportedLanguageError(
                f"this backend runs {known}; it cannot run {request.language!r:.80}"
            )
        run = run_program(request.code, runtime, **self._options_for(context))
        stop = asyncio.create_task(_stop_at(context.signal, run))
        try:
            return _told(await run)
        finally:
            stop.cancel()

    def _options_for(self, context: ToolContext) -> dict[str, Any]:
        """Tools that were lent pass the gate of the turn that the code runs in."""
        tools = self._options.get("tools")
        if not isinstance(tools, Toolbox):
            return self._options
        return {**self._options, "tools": ForCode(tools, context.gate)}


class PythonBackend(ProgramBackend):
    """Python with its standard library."""

    runtimes = dict.fromkeys(("python", "py", "python3"), "python")


class NodeBackend(ProgramBackend):
    """JavaScript on Node.js."""

    runtimes = dict.fromkeys(("javascript", "js", "node", "nodejs"), "node")


_JAVASCRIPT, _TYPESCRIPT = ("javascript", "js"), ("typescript", "ts")


class QuickJSBackend(ProgramBackend):
    """JavaScript and TypeScript on our own engine: nothing to install, a few milliseconds each."""

    runtimes = dict.fromkeys(_JAVASCRIPT, "javascript") | dict.fromkeys(_TYPESCRIPT, "typescript")


class DenoBackend(ProgramBackend):
    """JavaScript and TypeScript on Deno. `allow` grants `read`, `write`, `net` and `env`, never `run`."""

    runtimes = dict.fromkeys((*_JAVASCRIPT, *_TYPESCRIPT, "deno"), "deno")

    def __init__(self, allow: Mapping[str, Any] | None = None, **options: Any) -> None:
        super().__init__(allow=allow, **options)


async def _stop_at(signal: asyncio.Event, run: Any) -> None:
    await signal.wait()
    run.terminate("cancelled")


def _told(result: ProgramResult) -> dict[str, Any]:
    """With what a model cannot see in the output: why we ended the program, and that a part is missing."""
    notes = [] if result.reason is None else [f"[stopped: {result.reason}]"]
    if result.truncated:
        notes.append("[the end of the output is missing: print less]")
    stderr = "\n".join([*filter(None, [result.stderr.removesuffix("\n")]), *notes])
    return {"stdout": result.stdout, "stderr": stderr, "exit_code": result.exit_code}
