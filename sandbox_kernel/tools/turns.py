"""One turn of a model: its calls are checked, decided about in one batch, and then run in parallel."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from ..errors import OptionError
from ..permissions import Call
from .asked import asked_about
from .gating import denials
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
    if isinstance(calls, str | Mapping) or not isinstance(calls, Sequence):
        raise OptionError(f"calls are a list of {{id, name, args}}, not {calls!r:.80}")
    checked = [_checked(toolbox, call, at) for at, call in enumerate(calls)]
    decided = await _pass(checked, gate)
    for own in {id(each): each for each in map(_own_gate, decided) if each is not None}.values():
        decided = await _pass(decided, own, only_its_own=True)
    return list(await asyncio.gather(*(_result(each, gate) for each in decided)))


async def _pass(
    checked: list[_Checked | ToolResult], gate: GateFunction | None, only_its_own: bool = False
) -> list[_Checked | ToolResult]:
    """The gate is asked once, about all calls that it is for; what it denies becomes a result."""
    asked = [
        each
        for each in checked
        if isinstance(each, _Checked) and (not only_its_own or _own_gate(each) is gate)
    ]
    why = await denials([each.call for each in asked], gate)
    denied = {
        id(each): ToolResult.failed(denial)
        for each, denial in zip(asked, why, strict=True)
        if denial is not None
    }
    return [denied.get(id(each), each) for each in checked]


def _own_gate(each: _Checked | ToolResult) -> GateFunction | None:
    """Of a tool that asks by itself, such as seed 002's: before the parallel phase, too."""
    return getattr(each.tool, "gate", None) if isinstance(each, _Checked) else None


async def _result(each: _Checked | ToolResult, gate: GateFunction | None) -> ToolResult:
    if isinstance(each, ToolResult):
        return each
    context = ToolContext(each.call.id, gate=gate, passed=_own_gate(each))
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
        return _Checked(tool, asked_about(tool, args, str(call.get("id") or "")))
    except Exception as error:
        return ToolResult.failed(error)


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
    if not isinstance(message, Mapping):
        raise OptionError(
            f"message is a mapping such as message.model_dump(), not {type(message).__name__}"
        )
    asked = message.get("tool_calls")
    calls = [_of_openai(each) for each in asked] if isinstance(asked, list | tuple) else []
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
