"""Seed 001's declarative sibling of code: independent steps, decided about together, run in parallel."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..errors import OptionError
from .results import ToolContext, ToolResult
from .tool import called, check_args
from .toolbox import Toolbox
from .turns import run_tool_calls

MOST_STEPS = 100
_PARAMETERS: Mapping[str, Any] = {
    "type": "object",
    "properties": {
        "steps": {
            "type": "array",
            "minItems": 1,
            "maxItems": MOST_STEPS,
            "items": {
                "type": "object",
                "properties": {"tool": {"type": "string"}, "args": {"type": "object"}},
                "required": ["tool"],
                "additionalProperties": False,
            },
        }
    },
    "required": ["steps"],
    "additionalProperties": False,
}
_DESCRIPTION = (
    "Calls several tools at once. The steps are independent of each other and run in parallel; each has"
    " its own status and its own result or error."
)


class PlanTool:
    """Named `execute_plan`. Its steps call any tool that does not run code, and never itself."""

    name = "execute_plan"
    description = _DESCRIPTION
    runs_code = True
    tier: str | None = None

    def __init__(self, toolbox: Toolbox) -> None:
        self._toolbox = Toolbox([tool for tool in toolbox if not tool.runs_code])
        self._forbidden = {tool.name for tool in toolbox if tool.runs_code} | {self.name}
        self.parameters: Mapping[str, Any] = _PARAMETERS

    def check(self, args: Any) -> None:
        check_args(self.name, self.parameters, args)

    async def value(self, args: Mapping[str, Any], context: ToolContext) -> list[dict[str, Any]]:
        steps = args["steps"]
        calls = [
            {"id": str(at), "name": step["tool"], "args": step.get("args")}
            for at, step in enumerate(steps, 1)
        ]
        results = await run_tool_calls(self._toolbox, calls, context.gate)
        return [
            self._told(at, step["tool"], result)
            for at, (step, result) in enumerate(zip(steps, results, strict=True), 1)
        ]

    def _told(self, at: int, tool: str, result: ToolResult) -> dict[str, Any]:
        told: dict[str, Any] = {"step": at, "tool": tool}
        if tool in self._forbidden:
            error = f"{tool} runs code or a plan, and cannot be a step of one"
            return {**told, "status": "error", "error": error}
        if result.is_error:
            return {**told, "status": "error", "error": result.content}
        return {**told, "status": "ok", "result": result.value}

    async def call(self, args: Any, context: ToolContext | None = None) -> ToolResult:
        return await called(self, args, context)


def plan_execution_tool(toolbox: Toolbox) -> PlanTool:
    """Its steps pass the gate of the turn that it is called in as one batch."""
    if not isinstance(toolbox, Toolbox):
        raise OptionError(f"plan_execution_tool takes a Toolbox, not {toolbox!r:.80}")
    return PlanTool(toolbox)
