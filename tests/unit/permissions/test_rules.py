"""Rules: which applies, and which are refused because they never could."""

from __future__ import annotations

from typing import Any

import pytest

from sandbox_kernel import OptionError
from sandbox_kernel.permissions import PermissionPolicy
from sandbox_kernel.permissions.rules import Rules

ALLOW, DENY, ASK = PermissionPolicy.ALLOW, PermissionPolicy.DENY, PermissionPolicy.ASK


def test_a_rule_applies_to_a_whole_name_or_to_every_name_that_begins_so() -> None:
    rules = Rules({"mail.send": "ask", "files.*": ALLOW, "fetch": "deny"})
    assert rules.effect_on("mail.send") is ASK
    assert rules.effect_on("mail.sender") is None
    assert rules.effect_on("files.read") is ALLOW
    assert rules.effect_on("files") is None
    assert rules.effect_on("fetch") is DENY
    assert rules.effect_on("Fetch") is None


def test_deny_beats_ask_beats_allow() -> None:
    rules = Rules([("*", "allow"), ("mail.*", "ask"), ("mail.delete", "deny")])
    effects = {name: rules.effect_on(name) for name in ("mail.delete", "mail.send", "x")}
    assert effects == {"mail.delete": DENY, "mail.send": ASK, "x": ALLOW}


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"mail.*.now": "allow"}, "can never match: a [*] stands for the rest of a name"),
        ({"": "allow"}, "a rule's pattern is a name such as 'mail.send', not ''"),
        ({3: "allow"}, "not 3"),
        ({" mail.send": "allow"}, "can never match"),
        ({"mail\u200b.send": "allow"}, "can never match"),
        ({"mail.send": "alow"}, "not 'alow'; did you mean allow[?]"),
        ({"mail.send": True}, "allow, deny or ask, not True"),
        ([("mail.send",)], "a rule is a pattern and an effect"),
        (["mail.send"], "a rule is a pattern and an effect"),
        ({"mail.*": "deny", "mail.send": "allow"}, "'mail.send': 'allow' can never apply"),
        ({"mail.*": "ask", "mail.s*": "allow"}, "because 'mail.[*]': 'ask' is stricter"),
        ([("mail.send", "allow"), ("mail.send", "deny")], "can never apply"),
    ],
)
def test_a_rule_that_cannot_be_used_is_refused(given: Any, message: str) -> None:
    with pytest.raises(OptionError, match=message):
        Rules(given)


def test_a_thousand_names_are_looked_up_without_keeping_more_than_a_bound() -> None:
    rules = Rules({"a*": "allow"})
    for number in range(10_100):
        assert rules.effect_on(f"a{number}") is ALLOW
    assert len(rules._known) == 10_000
