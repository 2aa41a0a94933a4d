"""What an agent asks of a model, and a model that follows a script."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from ..errors import OptionError, SandboxError
from .events import AgentEvent
from .memory import Message

Tell = Callable[[AgentEvent], Awaitable[None]]


class ModelError(SandboxError):
    """The model could not be asked, or did not answer as models do."""


@dataclass(frozen=True, slots=True)
class ModelCall:
    """A call that the model wants; `args` may be text of JSON."""

    id: str
    name: str
    args: Any


@dataclass(frozen=True, slots=True)
class Turn:
    """What a model said: text, calls, or both."""

    text: str = ""
    calls: Sequence[ModelCall] = ()


class Model(Protocol):
    async def turn(
        self, messages: Sequence[Message], tools: Sequence[Mapping[str, Any]], tell: Tell
    ) -> Turn:
        """The next turn; `tell` is for deltas while it comes. `tools` are in OpenAI's format."""


class ScriptedModel:
    """For lessons and tests. A turn is a text, or a list of calls `{"name", "args"}`."""

    def __init__(self, turns: Sequence[str | Sequence[Mapping[str, Any]]]) -> None:
        if not isinstance(turns, list | tuple):
            raise OptionError(f"a script is a list of turns, not {turns!r:.80}")
        self._turns = [_scripted(turn, at) for at, turn in enumerate(turns)]
        self.asked: list[list[Message]] = []  # the messages it was given, turn by turn

    async def turn(
        self, messages: Sequence[Message], tools: Sequence[Mapping[str, Any]], tell: Tell
    ) -> Turn:
        if len(self.asked) >= len(self._turns):
            raise ModelError(f"the script has {len(self._turns)} turns, and one more was asked for")
        turn = self._turns[len(self.asked)]
        self.asked.append(list(messages))
        if turn.text:
            await tell(AgentEvent("text_delta", text=turn.text))
        return turn


def _scripted(turn: Any, at: int) -> Turn:
    if isinstance(turn, str):
        return Turn(turn)
    if not isinstance(turn, list | tuple) or not all(
        isinstance(call, Mapping) and isinstance(call.get("name"), str) for call in turn
    ):
        raise OptionError(
            f"turn {at} of the script is {turn!r:.80}; write a text, or a list of calls {{name, args}}"
        )
    calls = [
        ModelCall(str(call.get("id") or f"call_{at}_{index}"), call["name"], call.get("args", {}))
        for index, call in enumerate(turn)
    ]
    return Turn(calls=calls)
