"""Checks of the arguments that capabilities are made with."""

from __future__ import annotations

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
    if isinstance(value, bool) or not isinstance(value, int | float) or not value > 0:
        raise OptionError(f"{name} must be a positive number, not {value!r:.80}", name)
    return float(value)
