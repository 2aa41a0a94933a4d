"""The gate of a model's turn, in front of every call that the turn leads to: its own, a plan's, code's."""

from __future__ import annotations

from collections.abc import Sequence

from ..permissions import Call
from .results import GateFunction, said_by


async def denials(calls: Sequence[Call], gate: GateFunction | None) -> list[str | None]:
    """Why each call is denied; None if it may be made. A gate that fails denies them all."""
    if gate is None or not calls:
        return [None] * len(calls)
    try:
        decisions = list(await gate(calls))
        if len(decisions) != len(calls):
            raise ValueError("the gate did not decide about each call")
    except Exception as error:
        return [f"{call.name} was not allowed: {said_by(error)}" for call in calls]
    return [
        None
        if getattr(decision, "allowed", None) is True
        else getattr(decision, "message", "") or f"{call.name} was not allowed"
        for call, decision in zip(calls, decisions, strict=True)
    ]
