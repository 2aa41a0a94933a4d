"""What a gate is told about calls of tools: rules know each by its tool's name, whoever carries it."""

from __future__ import annotations

from typing import Any

from ..calls import Call, Marks
from .tool import Tool


def asked_about(tool: Tool, args: Any, ident: str = "") -> Call:
    """The call with the tool's own marks; its arguments have been checked."""
    call = Call(tool.name, args, ident)
    marks = Marks.of(getattr(tool, "function", None))
    marks.put_on(call)
    call.tier, call.what = tool.tier, marks.what(args)
    lent_as: str | None = getattr(tool, "lent_as", None)
    if lent_as is not None:
        call.also = (*call.also, lent_as)
        call.rules = call.rules or (lent_as,)
    return call
