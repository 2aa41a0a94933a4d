"""Seed 001's tool: a model writes code that calls its tools, and reads what the code set as its result."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..errors import OptionError
from .requests import CodeRequest, CodeResult
from .results import ToolContext, ToolResult, as_json
from .runner import CodeRunner
from .tool import called, check_args
from .toolbox import ForCode, Toolbox

_RUNTIMES = ("python", "node")
_DESCRIPTION = """\
Runs code that can call the other tools, for loops, conditions and data that flows between calls.
Python: call_tool(name, args), call_tools_parallel([(name, args), ...]), set_result(data, files=None).
Node.js: await callTool(name, args), await callToolsParallel([[name, args], ...]), setResult(data, files).
A failing tool raises RuntimeError (Error). End with set_result: what is printed is only a log."""


class ExecuteCodeWithTools:
    """Named `execute_code`. Its code may call every tool of the box that does not run code."""

    name = "execute_code"
    description = _DESCRIPTION
    runs_code = True
    tier: str | None = None

    def __init__(self, toolbox: Toolbox, runner: CodeRunner) -> None:
        self._toolbox = toolbox
        self._runner = runner
        self.parameters: Mapping[str, Any] = _parameters(getattr(runner, "runtimes", _RUNTIMES))

    def check(self, args: Any) -> None:
        check_args(self.name, self.parameters, args)

    async def value(self, args: Mapping[str, Any], context: ToolContext) -> ToolResult:
        request = CodeRequest(args["code"], args.get("runtime", "python"))
        for_code = ForCode(self._toolbox, context.gate)
        return _told(await self._runner.run(request, for_code.dispatch_from_code))

    async def call(self, args: Any, context: ToolContext | None = None) -> ToolResult:
        return await called(self, args, context)


def with_code_execution(toolbox: Toolbox, runner: CodeRunner) -> Toolbox:
    """The same tools, and `execute_code(code, runtime="python")`, whose code may call them."""
    if not isinstance(toolbox, Toolbox):
        raise OptionError(f"with_code_execution takes a Toolbox, not {toolbox!r:.80}")
    if not isinstance(runner, CodeRunner):
        raise OptionError(f"a runner has a method run(request, dispatch); {runner!r:.80} has none")
    return Toolbox([*toolbox, ExecuteCodeWithTools(toolbox, runner)])


def _parameters(runtimes: Any) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": {
            "code": {"type": "string", "minLength": 1, "description": "The program to run."},
            "runtime": {"type": "string", "enum": list(runtimes), "default": "python"},
        },
        "required": ["code"],
        "additionalProperties": False,
    }


def _told(result: CodeResult) -> ToolResult:
    """The output; or the error and the logs, if the code failed or set nothing."""
    failed = result.error is not None or result.exit_code != 0
    if failed or result.output is None:
        shown: Any = {"error": result.error, "logs": result.logs}
    else:
        shown = result.output
    return ToolResult(as_json(shown), attachments=tuple(result.files), value=shown)
