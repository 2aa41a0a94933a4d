"""Seed 002's tool `execute_code`: one Python program in the executor service, and no way to other tools."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

from ..permissions import Call
from .executor import Executor
from .gating import denials
from .results import GateFunction, ToolContext, ToolResult
from .tool import called, check_args

NAME = "execute_code"
TIER = "T4"
_DESCRIPTION = """\
Runs a short Python program in an isolated sandbox and returns its stdout, stderr and exit code. For work
to be done rather than reasoned about: arithmetic and statistics, parsing or reshaping data, checking a
regular expression or an algorithm. Print the results: stdout is what you read. Only the standard library
is there, no network, and nothing stays between calls."""
_PARAMETERS: Mapping[str, Any] = {
    "type": "object",
    "properties": {
        "code": {
            "type": "string",
            "minLength": 1,
            "description": "The Python program to run. Print results to stdout. Standard library only.",
        },
        "language": {"type": "string", "enum": ["python"], "default": "python"},
        "stdin": {"type": "string", "description": "Text for the program's standard input."},
        "timeout_ms": {
            "type": "integer",
            "minimum": 1,
            "description": "Time limit in milliseconds; the server has a maximum and a default.",
        },
        "files": {
            "type": "array",
            "maxItems": 1000,
            "description": "Files in the program's directory. Names are plain, without separators.",
            "items": {
                "type": "object",
                "properties": {"name": {"type": "string"}, "content": {"type": "string"}},
                "required": ["name", "content"],
                "additionalProperties": False,
            },
        },
    },
    "required": ["code"],
    "additionalProperties": False,
}


class TeamGates(Protocol):
    """`Gates`, as far as the tool knows them."""

    executor: Executor | None

    def open_for(self, team: str) -> bool: ...


class ExecuteCodeTool:
    """Of no team it refuses every call; `gates.tools_for` gives teams their own."""

    name = NAME
    description = _DESCRIPTION
    runs_code = True
    tier: str | None = TIER

    def __init__(
        self, gates: TeamGates, team: str | None = None, gate: GateFunction | None = None
    ) -> None:
        self.gates = gates
        self.gate = gate  # asked before each call
        self._team = team
        self.parameters: Mapping[str, Any] = _PARAMETERS

    def for_team(self, team: str, gate: GateFunction) -> ExecuteCodeTool:
        return ExecuteCodeTool(self.gates, team, gate)

    def check(self, args: Any) -> None:
        check_args(self.name, self.parameters, args)

    async def value(self, args: Mapping[str, Any], context: ToolContext) -> dict[str, Any]:
        executor = self.gates.executor
        if self._team is None or self.gate is None:
            raise PermissionError(f"{NAME} belongs to a team: use gates.tools_for(team, toolbox)")
        if executor is None or not self.gates.open_for(self._team):
            raise PermissionError(f"{NAME} is not turned on for this team")
        if context.passed is not self.gate:
            (denial,) = await denials([Call(NAME, args, context.tool_call_id, TIER)], self.gate)
            if denial is not None:
                raise PermissionError(denial)
        return await executor.execute({"language": "python", **args})

    async def call(self, args: Any, context: ToolContext | None = None) -> ToolResult:
        return await called(self, args, context)
