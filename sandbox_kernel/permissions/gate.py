"""The gate: the only thing that stands before a call and decides about it.

A `Policy` makes one for each run. `permission_gate` makes one from a store, for the calls of a
model's turn. Both look a call up, and ask a person where that does not settle it.
"""

from __future__ import annotations

import asyncio
import warnings
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import Any

from ..calls import Call, Decision
from ..errors import OptionError
from .asking import GATHERING, MOST_QUESTIONS, Asking, Prompter, denied
from .effects import ApprovalChoice, PermissionPolicy
from .rules import Given, Rules, check_name, strictest
from .store import FilePermissionStore, InMemoryPermissionStore, PermissionStore

_ASKS_ALWAYS = "T4"  # the tier of tools that only a person, or a kept answer, can allow
_ALLOWED = Decision(True, PermissionPolicy.ALLOW.value)

_AGAIN = {
    ApprovalChoice.ALLOW_ONCE.value: "you allowed it once, and this is another call",
    ApprovalChoice.DENY_ONCE.value: "you said no before, and it tries again",
}

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
        of_a_run: bool = False,
        way_to_allow: str = "",
        at_end: Callable[[], None] | None = None,
    ) -> None:
        self._look_up = look_up
        self._keep = keep
        self._asking: Asking | None = None
        if prompter is not None:
            most, gathering = (MOST_QUESTIONS, GATHERING) if of_a_run else (None, 0)
            self._asking = Asking(prompter, most=most, gathering=gathering)
        self._way_to_allow = way_to_allow
        self._at_end = at_end
        self._allowed_names: set[str] = set()
        self._answered: dict[str, str] = {}  # how, by name: why it is asked about again

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
        names = names_for_answers(call)
        if self._allowed_names.issuperset(names):
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
        names = names_for_answers(call)
        call.why = call.why or next(filter(None, map(self._why_again, names)), None)
        decision = await self._asking.about(call)
        for name in names:
            self._learn(name, decision.how)
        return decision

    def _why_again(self, name: str) -> str | None:
        return _AGAIN.get(self._answered.get(name, ""))

    def _learn(self, name: str, how: str) -> None:
        self._answered[name] = how
        if how == ApprovalChoice.ALLOW_RUN.value:
            self._allowed_names.add(name)
        elif how == ApprovalChoice.ALLOW_ALWAYS.value:
            if not self._kept(name, PermissionPolicy.ALLOW):
                self._allowed_names.add(name)
        elif how == ApprovalChoice.DENY_ALWAYS.value:
            self._kept(name, PermissionPolicy.DENY)

    def _kept(self, name: str, effect: PermissionPolicy) -> bool:
        """A guest chooses paths, and a person who allowed `x*` has seen one file of that name."""
        try:
            self._keep(check_name(name), effect)
        except Exception as error:
            warnings.warn(f"an answer that was to hold always does not: {error}", stacklevel=2)
            return False
        return True

    def close(self) -> None:
        """Open questions go away."""
        if self._asking is not None:
            self._asking.close()
        if self._at_end is not None:
            self._at_end()


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

    def effect_on(call: Call, names: tuple[str, ...]) -> PermissionPolicy:
        kept = strictest(found for name in names if (found := stored(name, call.args)))
        if kept is not None:
            return kept
        return (
            PermissionPolicy.ASK if call.tier == _ASKS_ALWAYS else store.get(call.name, call.args)
        )

    def look_up(call: Call) -> PermissionPolicy:
        if not call.rules:
            return effect_on(call, (call.name,))
        effects = {effect_on(call, (call.name, rule)) for rule in call.rules}
        return strictest(effects) or PermissionPolicy.ASK

    return Gate(look_up, keep, prompter, way_to_allow="; store.set({name!r}, 'allow') allows it")


class Policy:
    """Rules for lent functions, and who is asked about the rest.

    `rules` is `{pattern: effect}` or a list of such pairs. A name that no rule knows is asked about.
    Answers that are to hold always are rules of this object, or kept in `store` if there is one.
    """

    def __init__(
        self,
        rules: Given = (),
        ask: Prompter | None = None,
        *,
        store: FilePermissionStore | InMemoryPermissionStore | None = None,
    ) -> None:
        _check_prompter(ask)
        if store is not None and not callable(getattr(store, "stored", None)):
            raise OptionError(
                f"store is a FilePermissionStore or an InMemoryPermissionStore, not {store!r:.80}"
            )
        self._rules = Rules(rules)
        self._ask = ask
        self._store = store
        self._answers: dict[str, PermissionPolicy] = {}  # that were to hold always
        self._used: set[str] = set()  # names about which the store knew something

    def effect_on(self, call: Call) -> PermissionPolicy:
        """Of the names that a call has, the strictest rule counts. All that it narrows itself to has
        to be allowed."""
        plain = not (call.also or call.rules or call.tier or self._answers)
        if plain and self._store is None:
            return self._rules.effect_on(call.name) or PermissionPolicy.ASK  # the usual case
        names = (call.name, *call.also) if call.also else (call.name,)
        if not call.rules:
            return self._effect_on(names, call.tier)
        effects = [self._effect_on((*names, rule), call.tier) for rule in call.rules]
        return strictest(effects) or PermissionPolicy.ASK

    def _effect_on(self, names: tuple[str, ...], tier: str | None) -> PermissionPolicy:
        effects = [effect for name in names if (effect := self._rules.effect_on(name))]
        effect = effects[0] if len(effects) == 1 else strictest(effects)
        if effect is PermissionPolicy.DENY:
            return effect
        if self._answers or self._store is not None:
            kept = strictest(answer for name in names if (answer := self._answer(name)))
            if kept is not None:
                return kept
        if effect is None or tier == _ASKS_ALWAYS:
            return PermissionPolicy.ASK
        return effect

    def _answer(self, name: str) -> PermissionPolicy | None:
        kept = self._answers.get(name)
        if kept is not None or self._store is None:
            return kept
        kept = self._store.stored(name)
        if kept is not None:
            self._used.add(name)
        return kept

    def _tell_used(self) -> None:
        """So that whoever looks at what is kept sees what of it is needed."""
        used, self._used = self._used, set()
        touch = getattr(self._store, "touch", None)
        if used and touch is not None:
            with suppress(OSError):  # it was lost or locked away meanwhile; nothing depends on it
                touch(used)

    def _keep(self, name: str, effect: PermissionPolicy) -> None:
        if self._store is None:
            self._answers[name] = effect
        else:
            getattr(self._store, "remember", self._store.set)(name, effect)

    def gate(self) -> Gate:
        """One for each run, because some answers are for one run only."""
        return Gate(
            self.effect_on,
            self._keep,
            self._ask,
            of_a_run=True,
            at_end=self._tell_used,
            way_to_allow="; Policy({{{name!r}: 'allow'}}) allows it",
        )

    def __repr__(self) -> str:
        return f"Policy({self._rules!r})"


def names_for_answers(call: Call) -> tuple[str, ...]:
    """What an answer that holds for longer than one call is about: as little as can be named."""
    return call.rules or (call.name,)


def _check_prompter(prompter: object) -> None:
    if prompter is not None and not callable(getattr(prompter, "ask", None)):
        raise OptionError(f"a prompter has a method ask(batch); {prompter!r:.80} has none")


def _call_of(call: Any) -> Call:
    """A `Call`, or a model's: a mapping with `id`, `name` and `args`."""
    if isinstance(call, Call):
        return call
    if isinstance(call, Mapping) and "name" in call:
        return Call(str(call["name"]), call.get("args", {}), str(call.get("id", "")))
    raise OptionError(f"a call is a mapping with id, name and args, not {call!r:.80}")
