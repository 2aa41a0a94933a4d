"""What `DaskEngine` was given, checked before any of it travels to a scheduler or a worker."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from ..errors import OptionError


def check(options: Mapping[str, Any]) -> None:
    """OptionError names the first that cannot be."""
    for name, value in options.items():
        rule = _RULES[name]
        if not rule.holds(value):
            raise OptionError(f"{name} must be {rule.words}, not {value!r:.80}", name)


class _Rule(NamedTuple):
    words: str
    holds: Callable[[Any], bool]


def _is_whole(value: Any, least: int) -> bool:
    return type(value) is int and value >= least


def _is_amount(value: Any) -> bool:
    number = isinstance(value, int | float) and not isinstance(value, bool)
    return number and 0 <= value < math.inf


def _is_optional_flag(value: Any) -> bool:
    return value is None or isinstance(value, bool)


def _are_names(value: Any) -> bool:
    names = [value] if isinstance(value, str) else value
    return isinstance(names, list | tuple | set) and all(isinstance(each, str) for each in names)


def _are_amounts(value: Any) -> bool:
    if not isinstance(value, Mapping):
        return False
    return all(isinstance(name, str) and _is_amount(each) for name, each in value.items())


_COUNT = _Rule("a whole number from 0 on", lambda value: _is_whole(value, 0))
_FROM_ONE = _Rule("a whole number from 1 on", lambda value: _is_whole(value, 1))
_SECONDS = _Rule("a number of seconds", _is_amount)
_RULES = {
    "concurrency": _Rule(
        "a whole number from 1 on, or None", lambda value: value is None or _is_whole(value, 1)
    ),
    "retries": _COUNT,
    "keep": _SECONDS,
    "slice": _SECONDS,
    "direct": _Rule("True, False or None", _is_optional_flag),
    "resources": _Rule(
        "names and amounts, such as {'sandbox': 1}, or None",
        lambda value: value is None or _are_amounts(value),
    ),
    "priority": _Rule("a whole number", lambda value: type(value) is int),
    "workers": _Rule(
        "names or addresses of workers, or None", lambda value: value is None or _are_names(value)
    ),
    "spares": _COUNT,
    "patience": _Rule("a number of seconds above 0", lambda value: _is_amount(value) and value > 0),
    "default_memory_limit_bytes": _FROM_ONE,
    "cpu_seconds": _FROM_ONE,
    "require_isolation": _Rule("True or False", lambda value: isinstance(value, bool)),
}
