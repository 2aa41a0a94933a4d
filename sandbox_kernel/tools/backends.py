"""Backends of `code_execution`: isolated programs of one runtime each."""

from __future__ import annotations

import asyncio
from inspect import signature
from typing import Any, ClassVar

from ..programs.contract import ProgramOptions, ProgramResult
from ..run import run_program
from .code_execution import CodeExecutionRequest
from .results import ToolContext

_OPTIONS = frozenset(signature(run_program).parameters) - {"code", "language", "engine", "unknown"}


class UnsupportedLanguageError(ValueError):
    """The backend does not run this language; the message names what it runs."""


class ProgramBackend:
    """Runs each request as a program of its own; `options` are those of `run_program`."""

    runtime: ClassVar[str]
    languages: ClassVar[tuple[str, ...]]

    def __init__(self, **options: Any) -> None:
        given = {name: value for name, value in options.items() if name != "engine"}
        known = {name: given.pop(name) for name in _OPTIONS if name in given}
        ProgramOptions.of("", self.runtime, known, given)  # refused now rather than at a call
        self._options = options

    async def exec(self, request: CodeExecutionRequest, context: ToolContext) -> ProgramResult:
        if request.language.casefold().strip() not in self.languages:
            known = ", ".join(self.languages)
            raise UnsupportedLanguageError(
                f"this backend runs {known}; it cannot run {request.language!r:.80}"
            )
        run = run_program(request.code, self.runtime, **self._options)
        stop = asyncio.create_task(_stop_at(context.signal, run))
        try:
            return await run
        finally:
            stop.cancel()


class PythonBackend(ProgramBackend):
    """Python with its standard library."""

    runtime = "python"
    languages = ("python", "py", "python3")


class NodeBackend(ProgramBackend):
    """JavaScript on Node.js."""

    runtime = "node"
    languages = ("javascript", "js", "node", "nodejs")


async def _stop_at(signal: asyncio.Event, run: Any) -> None:
    await signal.wait()
    run.terminate("cancelled")
