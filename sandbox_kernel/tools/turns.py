"""One turn of a model: its calls are checked, decided about in one batch, and then run in parallel."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from ..permissions import Call
from .results import GateFunction, ToolContext, ToolResult
from .tool import Tool, called
from .toolbox import Toolbox

MOST_CALLS = 1000  # of one turn; further ones are told so


class _Checked(NamedTuple):
    tool: Tool
    call: Call


async def run_tool_calls(
    toolbox: Toolbox, calls: Sequence[Any], gate: GateFunction | None = None
) -> list[ToolResult]:
    """A result for each call, in order. Nothing that a model can send raises here.

    A call is `{"id", "name", "args"}`. What is unknown or does not fit is not asked about, and what is
    denied never runs.
    """
    checked = [_checked(toolbox, call, at) for at, call in enumerate(calls)]
    denials = await _decide([each for each in checked if isinstance(each, _Checked)], gate)
    return list(await asyncio.gather(*(_result(each, denials, gate) for each in checked)))


async def _result(
    each: _Checked | ToolResult, denials: Mapping[int, str], gate: GateFunction | None
) -> ToolResult:
    if isinstance(each, ToolResult):
        return each
    denial = denials.get(id(each.call))
    if denial is not None:
        return ToolResult.failed(denial)
    context = ToolContext(each.call.id, gate=gate)
    try:
        return await called(each.tool, each.call.args, context)
    finally:
        context.signal.set()


def _checked(toolbox: Toolbox, call: Any, at: int) -> _Checked | ToolResult:
    try:
        if at >= MOST_CALLS:
            raise ValueError(
                f"one turn has at most {MOST_CALLS:,} calls; make this one in the next"
            )
        if not isinstance(call, Mapping):
            raise ValueError(f"a call is an object with id, name and args, not {call!r:.80}")
        name: Any = call.get("name")
        tool = toolbox[name]
        args = arguments(call.get("args"))
        tool.check(args)
    except Exception as error:
        return ToolResult.failed(error)
    return _Checked(tool, Call(tool.name, args, str(call.get("id") or ""), tool.tier))


async def _decide(checked: list[_Checked], gate: GateFunction | None) -> dict[int, str]:
    """Why calls are denied, by the identity of the call. A gate that fails denies them all."""
    if gate is None or not checked:
        return {}
    calls = [each.call for each in checked]
    try:
        decisions = list(await gate(calls))
        if len(decisions) != len(calls):
            raise ValueError("the gate did not decide about each call")
    except Exception as error:
        return {id(call): f"{call.name} was not allowed: {error}" for call in calls}
    return {
        id(call): getattr(decision, "message", "") or f"{call.name} was not allowed"
        for call, decision in zip(calls, decisions, strict=True)
        if getattr(decision, "allowed", None) is not True
    }


def arguments(given: Any) -> Any:
    """A model's arguments, which may be text of JSON; none at all are no arguments."""
    if given is None or given == "":
        return {}
    if not isinstance(given, str):
        return given
    try:
        return json.loads(given)
    except (ValueError, RecursionError) as error:
        raise ValueError(f"the arguments are not JSON: {error}") from None


async def answer_openai(
    message: Mapping[str, Any], toolbox: Toolbox, gate: GateFunction | None = None
) -> list[dict[str, Any]]:
    """The `tool` messages that answer an assistant's message with `tool_calls`."""
    asked = message.get("tool_calls") or []
    calls = [_of_openai(each) for each in asked]
    results = await run_tool_calls(toolbox, calls, gate)
    return [
        {"role": "tool", "tool_call_id": call["id"], "content": result.content}
        for call, result in zip(calls, results, strict=True)
    ]


def _of_openai(call: Any) -> dict[str, Any]:
    function = call.get("function") if isinstance(call, Mapping) else None
    if not isinstance(function, Mapping):
        return {"id": "", "name": None, "args": {}}
    return {
        "id": str(call.get("id") or ""),
        "name": function.get("name"),
        "args": function.get("arguments"),
    }
