"""Rules: patterns of names, and what each says about a call. Deny beats ask beats allow."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from ..errors import OptionError
from .effects import PermissionPolicy

Given = Mapping[str, Any] | Iterable[tuple[str, Any]]
_STRICTEST_FIRST = (PermissionPolicy.DENY, PermissionPolicy.ASK, PermissionPolicy.ALLOW)


class Rule(NamedTuple):
    """`pattern` is a whole name, or the beginning of one and a `*`."""

    pattern: str
    effect: PermissionPolicy

    def covers(self, name: str) -> bool:
        """Whether it applies to a name, or to all that another pattern applies to."""
        if self.pattern.endswith("*"):
            return name.startswith(self.pattern[:-1])
        return name == self.pattern


class Rules:
    """A set of rules in which each can apply: one that a stricter one always beats is refused."""

    def __init__(self, given: Given = ()) -> None:
        self._rules = tuple(_checked(given))
        self._known: dict[str, PermissionPolicy | None] = {}  # by the names that were asked for

    def effect_on(self, name: str) -> PermissionPolicy | None:
        """What the strictest rule that applies says; None if none applies."""
        try:
            return self._known[name]
        except KeyError:
            effect = strictest(rule.effect for rule in self._rules if rule.covers(name))
            if len(self._known) < 10_000 and len(name) < 1_000:
                self._known[name] = effect
            return effect

    def __iter__(self) -> Any:
        return iter(self._rules)

    def __repr__(self) -> str:
        listed = ", ".join(f"{rule.pattern!r}: {rule.effect.value!r}" for rule in self._rules[:20])
        more = f", … {len(self._rules) - 20} more" if len(self._rules) > 20 else ""
        return f"Rules({{{listed}{more}}})"


def strictest(effects: Iterable[PermissionPolicy]) -> PermissionPolicy | None:
    found = set(effects)
    return next((effect for effect in _STRICTEST_FIRST if effect in found), None)


def check_pattern(pattern: object) -> str:
    if not isinstance(pattern, str) or not pattern:
        raise OptionError(f"a rule's pattern is a name such as 'mail.send', not {pattern!r:.80}")
    if "*" in pattern[:-1]:
        raise OptionError(
            f"the rule {pattern!r:.200} can never match: a * stands for the rest of a name,"
            " so it has to be the last character, as in 'mail.*'"
        )
    if not pattern.isprintable() or pattern != pattern.strip():
        raise OptionError(
            f"the rule {pattern!r:.200} can never match: names have no blanks around them"
        )
    return pattern


def check_name(name: str) -> str:
    """Of one call, which as a pattern would stand for others."""
    if name.endswith("*"):
        raise OptionError(f"{name!r:.200} as a rule would be about other names, too")
    return check_pattern(name)


def _checked(given: Given) -> list[Rule]:
    if not isinstance(given, Iterable):
        raise OptionError(f"rules are a mapping such as {{'mail.send': 'ask'}}, not {given!r:.80}")
    pairs = given.items() if isinstance(given, Mapping) else given
    rules: list[Rule] = []
    for pair in pairs:
        if not isinstance(pair, tuple | list) or len(pair) != 2:
            raise OptionError(f"a rule is a pattern and an effect, not {pair!r:.80}")
        rules.append(Rule(check_pattern(pair[0]), PermissionPolicy.of(pair[1])))
    for rule in rules:
        _check_that_it_can_apply(rule, rules)
    return rules


def _check_that_it_can_apply(rule: Rule, rules: list[Rule]) -> None:
    for other in rules:
        stricter = _STRICTEST_FIRST.index(other.effect) < _STRICTEST_FIRST.index(rule.effect)
        if stricter and other.covers(rule.pattern):
            raise OptionError(
                f"the rule {rule.pattern!r:.200}: {rule.effect.value!r} can never apply, because"
                f" {other.pattern!r:.200}: {other.effect.value!r} is stricter and covers it;"
                " narrow that one, or leave this one out"
            )
