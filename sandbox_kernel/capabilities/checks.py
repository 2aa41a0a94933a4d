"""Checks of the arguments that capabilities are made with."""

from __future__ import annotations

import math
from contextlib import suppress

from ..errors import OptionError


def whole(name: str, value: object, least: int = 0) -> int:
    """A whole number of at least so much."""
    if isinstance(value, bool) or not isinstance(value, int) or value < least:
        raise OptionError(
            f"{name} must be a whole number of at least {least}, not {value!r:.80}", name
        )
    return value


def seconds(name: str, value: object) -> float:
    """A positive number."""
    if not isinstance(value, bool) and isinstance(value, int | float) and 0 < value < math.inf:
        with suppress(OverflowError):
            return float(value)
    raise OptionError(f"{name} must be a positive number, not {value!r:.80}", name)


def yes_or_no(name: str, value: object) -> bool:
    if isinstance(value, bool):
        return value
    raise OptionError(f"{name} must be True or False, not {value!r:.80}", name)
