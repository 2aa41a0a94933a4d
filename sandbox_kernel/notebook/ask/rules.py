"""What a notebook asks about: `--ask`, and `.sandbox-kernel.json` in its folder. Neither can allow."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from pathlib import Path

from ...errors import OptionError
from ...permissions import (
    FilePermissionStore,
    InMemoryPermissionStore,
    PermissionPolicy,
    Policy,
    Prompter,
)
from ...permissions.rules import Rule, check_pattern

PROJECT_FILE = ".sandbox-kernel.json"
_LARGEST = 1 << 16  # bytes of it


def all_of(name: str) -> list[str]:
    """Patterns for a lent module or global, and for all that it has and gives."""
    return [name, f"{name}.*", f"{name}[*", f"{name}/*", f"{name}(*"]


def policy_for(
    asked: Iterable[str], prompter: Prompter, store: InMemoryPermissionStore | None = None
) -> Policy | None:
    """None if nothing of a cell is asked about. Answers that are to hold are the user's, in a file,
    unless there is another store."""
    rules = {**dict.fromkeys(asked, PermissionPolicy.ASK), **_of_project()}
    if not rules:
        return None
    denied = [Rule(*each) for each in rules.items() if each[1] is PermissionPolicy.DENY]
    kept = {
        pattern: effect
        for pattern, effect in rules.items()
        if effect is PermissionPolicy.DENY or not any(rule.covers(pattern) for rule in denied)
    }
    if "*" not in kept:
        kept["*"] = PermissionPolicy.ALLOW  # what nobody wants to be asked about is lent freely
    return Policy(kept, ask=prompter, store=store or FilePermissionStore())


def _of_project() -> Mapping[str, PermissionPolicy]:
    """Raises OptionError for a file that cannot be read as rules: nothing runs without them."""
    path = Path(PROJECT_FILE)
    try:
        with path.open("rb") as file:
            text = file.read(_LARGEST + 1)
    except FileNotFoundError:
        return {}
    except OSError as error:
        raise OptionError(f"{PROJECT_FILE} cannot be read: {error.strerror}") from None
    try:
        given = json.loads(text)["permissions"] if len(text) <= _LARGEST else None
        if not isinstance(given, dict):
            raise TypeError
    except (ValueError, KeyError, TypeError, RecursionError):
        wanted = '{"permissions": {"mail.send": "ask"}}'
        raise OptionError(f"{PROJECT_FILE} has no rules; write it like {wanted}") from None
    rules = {
        check_pattern(pattern): PermissionPolicy.of(effect) for pattern, effect in given.items()
    }
    for pattern, effect in rules.items():
        if effect is PermissionPolicy.ALLOW:
            raise OptionError(
                f"{PROJECT_FILE} cannot allow {pattern!r:.80}: a project's file can only deny or ask"
            )
    return rules
