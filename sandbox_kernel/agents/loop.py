"""`run_agent`: a model and its tools, turn by turn, until the model answers.

Small on purpose: whoever has a framework keeps it, and uses the tools without this loop.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from ..errors import OptionError, SandboxError
from ..spelling import suggestion
from ..tools import Toolbox, ToolResult, run_tool_calls
from ..tools.results import GateFunction, as_json
from ..tools.turns import arguments
from .events import AgentEvent
from .memory import Message, SessionMemoryStore
from .model import Model, ModelCall, Tell, Turn

_HOOKS = ("gate_tool_calls",)


class NoAnswerError(SandboxError):
    """The model called tools for as many steps as it may, and did not answer."""


async def run_agent(
    model: Model,
    prompt: str,
    *,
    memory: SessionMemoryStore | None = None,
    session_id: str | None = None,
    system: str | None = None,
    tools: Iterable[Any] | Toolbox = (),
    hooks: Mapping[str, GateFunction] | None = None,
    on_event: Callable[[AgentEvent], Any] | None = None,
    max_steps: int = 10,
) -> str:
    """The model's answer. Errors of tools come back to the model as text; those of the model raise.

    With a `memory`, the conversation of `session_id` goes on. `hooks={"gate_tool_calls": gate}` decides
    about the calls of each turn before any of them runs.
    """
    _check(model, prompt, memory, max_steps)
    toolbox = tools if isinstance(tools, Toolbox) else Toolbox(tools)
    agent = _Agent(model, toolbox, _gate(hooks), _teller(on_event))
    session = session_id or "default"
    kept = memory.messages(session) if memory is not None else []
    new: list[Message] = [{"role": "user", "content": prompt}]
    start = [{"role": "system", "content": system}] if system else []
    try:
        return await agent.answer([*start, *kept], new, max_steps)
    finally:
        if memory is not None:
            memory.append(session, _whole(new))


class _Agent:
    def __init__(
        self, model: Model, toolbox: Toolbox, gate: GateFunction | None, tell: Tell
    ) -> None:
        self._model = model
        self._toolbox = toolbox
        self._gate = gate
        self._tell = tell

    async def answer(self, before: list[Message], new: list[Message], steps: int) -> str:
        for _ in range(steps):
            turn = await self._model.turn([*before, *new], self._toolbox.openai(), self._tell)
            if not turn.calls:
                new.append({"role": "assistant", "content": turn.text})
                return turn.text
            new += [_said(turn), *await self._results(turn.calls)]
        raise NoAnswerError(f"the model did not answer within {steps} steps")

    async def _results(self, calls: Iterable[ModelCall]) -> list[Message]:
        asked = [{"id": call.id, "name": call.name, "args": call.args} for call in calls]
        for call in asked:
            await self._tell(
                AgentEvent("tool_start", tool_name=call["name"], args=_shown(call["args"]))
            )
        results = await run_tool_calls(self._toolbox, asked, self._gate)
        for call, result in zip(asked, results, strict=True):
            await self._tell(_ended(call["name"], result))
        return [
            {"role": "tool", "tool_call_id": call["id"], "content": result.content}
            for call, result in zip(asked, results, strict=True)
        ]


def _said(turn: Turn) -> Message:
    calls = [
        {
            "id": call.id,
            "type": "function",
            "function": {
                "name": call.name,
                "arguments": call.args if isinstance(call.args, str) else as_json(call.args),
            },
        }
        for call in turn.calls
    ]
    return {"role": "assistant", "content": turn.text, "tool_calls": calls}


def _shown(args: Any) -> Any:
    """As an object if it is one; text that is not JSON stays as it is."""
    try:
        return arguments(args)
    except ValueError:
        return args


def _ended(name: str, result: ToolResult) -> AgentEvent:
    return AgentEvent("tool_end", tool_name=name, result=result.content, is_error=result.is_error)


def _whole(messages: list[Message]) -> list[Message]:
    """Without calls that have no results, which no model would take as a beginning."""
    return messages[:-1] if messages[-1].get("tool_calls") else messages


def _check(model: object, prompt: object, memory: object, max_steps: object) -> None:
    if isinstance(model, type) or not callable(getattr(model, "turn", None)):
        raise OptionError(
            f"a model has a method turn(messages, tools, tell), as ScriptedModel([…]) and"
            f" OpenAICompatibleModel(…) have; {model!r:.80} has none"
        )
    if not isinstance(prompt, str):
        raise OptionError(f"the prompt is a text, not {prompt!r:.80}")
    if memory is not None and not callable(getattr(memory, "messages", None)):
        raise OptionError(f"memory is a SessionMemoryStore(), not {memory!r:.80}")
    if type(max_steps) is not int or max_steps < 1:
        raise OptionError(f"max_steps is a whole number from 1 on, not {max_steps!r:.80}")


def _gate(hooks: Mapping[str, GateFunction] | None) -> GateFunction | None:
    if hooks is not None and not isinstance(hooks, Mapping):
        raise OptionError(f"hooks is a mapping of names to functions, not {hooks!r:.80}")
    for name, hook in (hooks or {}).items():
        if name not in _HOOKS:
            raise OptionError(
                f"there is no hook {name!r:.80}; {suggestion(str(name)[:80], _HOOKS)}"
            )
        if not callable(hook):
            raise OptionError(
                f"the hook {name} is called with a turn's calls; {hook!r:.80} cannot be"
            )
    return (hooks or {}).get("gate_tool_calls")


def _teller(on_event: Callable[[AgentEvent], Any] | None) -> Tell:
    if on_event is not None and not callable(on_event):
        raise OptionError(f"on_event is called with each event; {on_event!r:.80} cannot be")

    async def tell(event: AgentEvent) -> None:
        if on_event is not None:
            told = on_event(event)
            if inspect.isawaitable(told):
                await told

    return tell
