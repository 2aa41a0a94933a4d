"""What can be decided about a call, by a rule or by a person, and what a person is asked."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import Any

from ..calls import Call
from ..errors import OptionError
from ..spelling import suggestion


class PermissionPolicy(Enum):
    """What a rule says about a call."""

    ALLOW = "allow"
    DENY = "deny"
    ASK = "ask"

    @classmethod
    def of(cls, effect: object) -> PermissionPolicy:
        """An effect, or its lower-case name."""
        for policy in cls:
            if effect is policy or effect == policy.value:
                return policy
        hint = ""
        if isinstance(effect, str):
            hint = "; " + suggestion(effect, [policy.value for policy in cls])
        raise OptionError(f"a rule's effect is allow, deny or ask, not {effect!r:.80}{hint}")


class ApprovalChoice(Enum):
    """What a person answers. `RUN` lasts until the run, or the gate, is gone; `ALWAYS` is stored."""

    ALLOW_ONCE = "allow_once"
    ALLOW_RUN = "allow_run"
    ALLOW_ALWAYS = "allow_always"
    DENY_ONCE = "deny_once"
    DENY_ALWAYS = "deny_always"

    @property
    def allows(self) -> bool:
        return self in _ALLOWING


_ALLOWING = (ApprovalChoice.ALLOW_ONCE, ApprovalChoice.ALLOW_RUN, ApprovalChoice.ALLOW_ALWAYS)


@dataclass(frozen=True, slots=True)
class CalledFunction:
    name: str


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A call as models make it: an id, and the name of the function."""

    function: CalledFunction
    id: str = ""


@dataclass(frozen=True, slots=True)
class ApprovalRequest:
    """One item of the batch that a prompter is asked about."""

    tool_call: ToolCall
    args: Any
    what: str | None = None  # the host will do, if that says more
    line: int | None = None  # of the guest's code
    why: str | None = None  # it is asked again

    @classmethod
    def of(cls, call: Call) -> ApprovalRequest:
        return cls(
            ToolCall(CalledFunction(call.name), call.id), call.args, call.what, call.line, call.why
        )
