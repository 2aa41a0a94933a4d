"""Seed 003's tool: a model sends `{language, code}` and reads one string that ends in a verdict.

The tool is the contract with the model; a backend runs the code. `backends` has ours.
"""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Awaitable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from ..errors import OptionError
from .results import ToolContext, ToolResult
from .tool import called, check_args

_PARAMETERS: Mapping[str, Any] = {
    "type": "object",
    "properties": {
        "language": {"type": "string", "description": "The language that the code is written in."},
        "code": {"type": "string", "minLength": 1, "description": "The program to run."},
    },
    "required": ["language", "code"],
    "additionalProperties": False,
}
_SECONDS_TO_CLEAR_UP = 2.0
_DESCRIPTION = (
    "Runs a program and returns what it printed, and how it ended. A program's last expression is not"
    " shown: print what you want to see."
)


@dataclass(frozen=True, slots=True)
class CodeExecutionRequest:
    language: str
    code: str


class CodeExecutionBackend(Protocol):
    """Runs code; raises if it cannot, which is not the same as code that fails."""

    async def exec(self, request: CodeExecutionRequest, context: ToolContext) -> Any:
        """`{stdout, stderr, exit_code}`, as a mapping or an object."""


def format_code_execution_result(stdout: str, stderr: str, exit_code: int) -> str:
    """Standard output, standard error if there is any, and the verdict, which is always last."""
    parts = [_without_newline(stdout)]
    if stderr:
        parts += ["[stderr]", _without_newline(stderr)]
    verdict = "[exit 0: ok]" if exit_code == 0 else f"[exit {exit_code}: error]"
    return "\n".join([*(part for part in parts if part), verdict])


class CodeExecutionTool:
    """Named `code_execution`. Code that fails is a result; a backend that cannot run it is an error."""

    name = "code_execution"
    description = _DESCRIPTION
    runs_code = True
    tier: str | None = None

    def __init__(self, backend: CodeExecutionBackend) -> None:
        self._backend = backend
        self.parameters: Mapping[str, Any] = _PARAMETERS

    def check(self, args: Any) -> None:
        check_args(self.name, self.parameters, args)

    async def value(self, args: Mapping[str, Any], context: ToolContext) -> str:
        request = CodeExecutionRequest(args["language"], args["code"])
        execution = self._backend.exec(request, context)
        if not inspect.isawaitable(execution):
            raise TypeError(f"exec of {type(self._backend).__name__} is not a coroutine function")
        found = await _until_done(execution, context)
        return format_code_execution_result(*_outcome(found))

    async def call(self, args: Any, context: ToolContext | None = None) -> ToolResult:
        return await called(self, args, context)


async def _until_done(execution: Awaitable[Any], context: ToolContext) -> Any:
    """Whoever is cancelled sets the signal; the backend gets a moment to clear up."""
    task = asyncio.ensure_future(execution)
    try:
        return await asyncio.shield(task)
    except asyncio.CancelledError:
        context.signal.set()
        await asyncio.wait([task], timeout=_SECONDS_TO_CLEAR_UP)
        task.cancel()
        raise


def code_execution_tool(backend: CodeExecutionBackend) -> CodeExecutionTool:
    """The tool `code_execution`: a model's code goes to the backend, and text with a verdict comes back."""
    if isinstance(backend, type):
        raise OptionError(f"a backend is made before it is used; write {backend.__name__}()")
    if not callable(getattr(backend, "exec", None)):
        raise OptionError(
            f"a backend has a method exec(request, context); {backend!r:.80} has none"
        )
    return CodeExecutionTool(backend)


def _outcome(found: Any) -> tuple[str, str, int]:
    names = ("stdout", "stderr", "exit_code")
    fields = found if isinstance(found, Mapping) else {n: getattr(found, n, None) for n in names}
    stdout, stderr, exit_code = (fields.get(name) for name in names)
    if not isinstance(stdout, str) or not isinstance(stderr, str) or type(exit_code) is not int:
        raise TypeError(
            "the backend did not return stdout and stderr as text and exit_code as a number"
        )
    return stdout, stderr, exit_code


def _without_newline(text: str) -> str:
    return text[:-1] if text.endswith("\n") else text
