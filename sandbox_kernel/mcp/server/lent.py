"""What code may use, and who may call it: the operator's decisions, never the model's."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ...permissions import InMemoryPermissionStore, Policy
from .questions import Questions

_LONGEST = 50_000  # characters of declarations that a model is shown


@dataclass(frozen=True, slots=True)
class Lent:
    """`options` are those of `run_code`; `rules` None means that nothing is asked about."""

    options: Mapping[str, Any] = field(default_factory=dict)
    declarations: str = ""
    rules: Mapping[str, Any] | None = None
    deadline: float | None = None  # seconds that a run may execute
    answers: InMemoryPermissionStore = field(default_factory=InMemoryPermissionStore)

    def policy(self, questions: Questions | None) -> Policy | None:
        """One for each run, since each has people of its own; what they allow always is shared."""
        if self.rules is None:
            return None
        return Policy(self.rules, ask=questions, store=self.answers)

    @property
    def shown(self) -> str:
        if len(self.declarations) <= _LONGEST:
            return self.declarations
        return self.declarations[:_LONGEST] + "\n// … and more"


def rules_for(given: Mapping[str, Any] | None, asks: Sequence[str]) -> Mapping[str, Any] | None:
    """The operator's rules, checked now. Without any a person is asked about what `asks` names, and
    nothing else is in question."""
    if given is not None:
        Policy(given)
        return given
    return {"*": "allow", **dict.fromkeys(asks, "ask")} if asks else None
