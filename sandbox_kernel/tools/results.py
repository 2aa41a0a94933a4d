"""What a tool is given beside its arguments, and what it gives back."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from ..permissions import Call, Decision

GateFunction = Callable[[Sequence[Call]], Awaitable[Sequence[Decision]]]


@dataclass(slots=True)
class ToolContext:
    """`signal` is set when nobody waits for the call any more; `gate` is that of the call's turn.

    `passed` is the tool's own gate, if it has one and the turn has asked it about this call already.
    """

    tool_call_id: str = ""
    signal: asyncio.Event = field(default_factory=asyncio.Event)
    gate: GateFunction | None = None
    passed: GateFunction | None = None


@dataclass(frozen=True, slots=True)
class ToolResult:
    """What a model reads; `attachments` are files that go with it, `value` is what the tool gave."""

    content: str
    is_error: bool = False
    attachments: Sequence[Any] = ()
    value: Any = field(default=None, compare=False, repr=False)

    @classmethod
    def of(cls, value: Any) -> ToolResult:
        """A text as it is, anything else as JSON."""
        if isinstance(value, ToolResult):
            return value
        return cls(sendable(value if isinstance(value, str) else as_json(value)), value=value)

    @classmethod
    def failed(cls, error: BaseException | str) -> ToolResult:
        return cls(sendable(error if isinstance(error, str) else said_by(error)), is_error=True)


def as_json(value: Any) -> str:
    """JSON for a model: what it has nothing for is written as text."""
    try:
        return json.dumps(value, ensure_ascii=False, default=str)
    except (TypeError, ValueError, RecursionError):
        return json.dumps(str(value), ensure_ascii=False)


def sendable(text: str) -> str:
    """Half of a surrogate pair cannot be in a message; it becomes a question mark."""
    return text if text.isascii() else text.encode("utf-8", "replace").decode()


def said_by(error: BaseException) -> str:
    """The message, or the name of an error that has none."""
    try:
        return str(error) or type(error).__name__
    except Exception:  # its own code
        return type(error).__name__
