"""What happens while an agent works, as its caller is told."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

Type = Literal["reasoning_delta", "text_delta", "tool_start", "tool_end"]


@dataclass(frozen=True, slots=True)
class AgentEvent:
    """Deltas have `text`; `tool_start` has `tool_name` and `args`, `tool_end` `result` and `is_error`."""

    type: Type
    text: str = ""
    tool_name: str = ""
    args: Any = None
    result: str = ""
    is_error: bool = False
