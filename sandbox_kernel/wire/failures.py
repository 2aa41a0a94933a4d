"""Exceptions as the guest may see them: a name, a message and a code."""

from __future__ import annotations

from typing import Any

from ..brief import brief
from ..values import GuestError

_LONGEST_CODE = 200  # characters


def error_node(error: BaseException) -> list[Any]:
    return ["e", *error_identity(error), None, *_code(error)]


def error_identity(error: BaseException) -> tuple[str, str]:
    """The name and message of an exception: all that the guest may see of it beside its code."""
    if isinstance(error, GuestError):
        return error.name, error.message
    if isinstance(error, KeyError) and len(error.args) == 1:
        key = error.args[0]
        return "KeyError", key if isinstance(key, str) else brief(key)
    if isinstance(error, OSError) and error.strerror:
        return type(error).__name__, error.strerror
    try:
        return type(error).__name__, str(error)
    except Exception:
        return type(error).__name__, ""


def _code(error: BaseException) -> list[str]:
    """What many libraries call the kind of a failure: `error.code`, such as "ENOENT"."""
    try:
        code = getattr(error, "code", None)
    except Exception:  # a property may raise whatever it likes
        return []
    return [code[:_LONGEST_CODE]] if type(code) is str else []
