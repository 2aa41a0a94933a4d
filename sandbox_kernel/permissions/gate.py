"""The gate: the only thing that stands before a call and decides about it.

A `Policy` makes one for each run. `permission_gate` makes one from a store, for the calls of a
model's turn. Both look a call up, and ask a person where that does not settle it.
"""

from __future__ import annotations

import asyncio
import warnings
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ..errors import OptionError
from .asking import MOST_QUESTIONS, Asking, Prompter, denied
from .effects import ApprovalChoice, Call, Decision, PermissionPolicy
from .rules import Given, Rules
from .store import PermissionStore

_ASKS_ALWAYS = "T4"  # the tier of tools that only a person, or a kept answer, can allow
_ALLOWED = Decision(True, PermissionPolicy.ALLOW.value)

Lookup = Callable[[Call], PermissionPolicy]
Keep = Callable[[str, PermissionPolicy], None]


class Gate:
    """Decides about calls: at once with `decide`, or asking with `ask` or for a batch.

    An ALLOW_RUN answer holds for as long as the gate exists.
    """

    def __init__(
        self,
        look_up: Lookup,
        keep: Keep,
        prompter: Prompter | None,
        *,
        most_questions: int | None = None,
        way_to_allow: str = "",
    ) -> None:
        self._look_up = look_up
        self._keep = keep
        self._asking = None if prompter is None else Asking(prompter, most=most_questions)
        self._way_to_allow = way_to_allow
        self._allowed_names: set[str] = set()

    async def __call__(self, calls: Sequence[Any]) -> list[Decision]:
        """One decision for each call, in order; those that need a person are asked as one batch."""
        return list(await asyncio.gather(*(self.ask(_call_of(call)) for call in calls)))

    def decide(self, call: Call) -> Decision | None:
        """None if a person has to be asked."""
        try:
            effect = self._look_up(call)
        except Exception as error:
            warnings.warn(f"no permission could be looked up: {error!r:.200}", stacklevel=2)
            return denied(call, "the permissions could not be read", "deny")
        if effect is PermissionPolicy.ALLOW:
            return _ALLOWED
        if effect is not PermissionPolicy.ASK:
            return denied(call, "a rule denies it", "deny")
        if call.name in self._allowed_names:
            return Decision(True, ApprovalChoice.ALLOW_RUN.value)
        if self._asking is None:
            way = self._way_to_allow.format(name=call.name)
            return denied(
                call, f"it needs permission, and there is nobody to ask here{way}", "deny"
            )
        return None

    async def ask(self, call: Call) -> Decision:
        """The decision, after a person was asked if need be."""
        decision = self.decide(call)
        if decision is not None or self._asking is None:
            assert decision is not None
            return decision
        decision = await self._asking.about(call)
        self._learn(call.name, decision.how)
        return decision

    def _learn(self, name: str, how: str) -> None:
        if how == ApprovalChoice.ALLOW_RUN.value:
            self._allowed_names.add(name)
        elif how == ApprovalChoice.ALLOW_ALWAYS.value:
            self._keep(name, PermissionPolicy.ALLOW)
        elif how == ApprovalChoice.DENY_ALWAYS.value:
            self._keep(name, PermissionPolicy.DENY)

    def close(self) -> None:
        """Open questions go away."""
        if self._asking is not None:
            self._asking.close()


def permission_gate(store: PermissionStore, prompter: Prompter | None) -> Gate:
    """A gate for the calls of a model's turn; it lasts for as long as one uses it."""
    for name in ("get", "set"):
        if not callable(getattr(store, name, None)):
            raise OptionError(
                f"a permission store has the methods get and set; {store!r:.80} has no {name}"
            )
    _check_prompter(prompter)
    keep: Keep = getattr(store, "remember", store.set)
    stored = getattr(store, "stored", store.get)

    def look_up(call: Call) -> PermissionPolicy:
        kept = stored(call.name, call.args)
        if call.tier == _ASKS_ALWAYS:
            return kept or PermissionPolicy.ASK
        return kept or store.get(call.name, call.args)

    return Gate(look_up, keep, prompter, way_to_allow="; store.set({name!r}, 'allow') allows it")


class Policy:
    """Rules for lent functions, and who is asked about the rest.

    `rules` is `{pattern: effect}` or a list of such pairs. A name that no rule knows is asked about.
    """

    def __init__(self, rules: Given = (), ask: Prompter | None = None) -> None:
        _check_prompter(ask)
        self._rules = Rules(rules)
        self._ask = ask
        self._answers: dict[str, PermissionPolicy] = {}  # that were to hold always

    def effect_on(self, call: Call) -> PermissionPolicy:
        effect = self._rules.effect_on(call.name)
        if effect is not PermissionPolicy.DENY and call.name in self._answers:
            return self._answers[call.name]
        if effect is None or (call.tier == _ASKS_ALWAYS and effect is not PermissionPolicy.DENY):
            return PermissionPolicy.ASK
        return effect

    def gate(self) -> Gate:
        """One for each run, because some answers are for one run only."""
        return Gate(
            self.effect_on,
            self._answers.__setitem__,
            self._ask,
            most_questions=MOST_QUESTIONS,
            way_to_allow="; Policy({{{name!r}: 'allow'}}) allows it",
        )

    def __repr__(self) -> str:
        return f"Policy({self._rules!r})"


def _check_prompter(prompter: object) -> None:
    if prompter is not None and not callable(getattr(prompter, "ask", None)):
        raise OptionError(f"a prompter has a method ask(batch); {prompter!r:.80} has none")


def _call_of(call: Any) -> Call:
    """A `Call`, or a model's: a mapping with `id`, `name` and `args`."""
    if isinstance(call, Call):
        return call
    if isinstance(call, Mapping):
        return Call(str(call["name"]), call.get("args", {}), str(call.get("id", "")))
    raise OptionError(f"a call is a mapping with id, name and args, not {call!r:.80}")
