"""Exceptions as the guest may see them: a name, a message and a code."""

from __future__ import annotations

import traceback
from types import TracebackType
from typing import Any

from ..brief import Holder, brief
from ..values import GuestError

_LONGEST_CODE = 200  # characters
_CONTAINERS = (list, dict, tuple, set, frozenset, Holder)  # in an exception, they may be a guest's
_SPELL_THEIR_ARGUMENTS = (BaseException.__str__, KeyError.__str__)
_LONGEST_CHAIN = 100  # exceptions that led to one another


def error_node(error: BaseException) -> list[Any]:
    return ["e", *error_identity(error), None, *_code(error)]


def error_identity(error: BaseException) -> tuple[str, str]:
    """The name and message of an exception: all that the guest may see of it beside its code."""
    if isinstance(error, GuestError):
        return error.name, error.message
    if isinstance(error, KeyError) and len(error.args) == 1:
        key = error.args[0]
        return "KeyError", key if isinstance(key, str) else brief(key)
    if _holds_containers(error):
        return type(error).__name__, brief(error.args if len(error.args) > 1 else error.args[0])
    if isinstance(error, OSError) and error.strerror:
        return type(error).__name__, error.strerror
    try:
        return type(error).__name__, str(error)
    except Exception:
        return type(error).__name__, ""


def format_error(error: BaseException, frames: TracebackType | None) -> str:
    """As Python prints it; without what led to it if Python would spell a guest's structure."""
    if any(map(_holds_containers, _chain(error))):
        name, message = error_identity(error)
        return f"{''.join(traceback.format_tb(frames))}{name}: {message}"
    return "".join(traceback.format_exception(type(error), error, frames)).rstrip()


def _holds_containers(error: BaseException) -> bool:
    """Whether its text would be their `repr`, which need not end."""
    is_spelled = type(error).__str__ in _SPELL_THEIR_ARGUMENTS
    return is_spelled and any(isinstance(each, _CONTAINERS) for each in error.args)


def _chain(error: BaseException) -> list[BaseException]:
    """All that Python prints with an exception."""
    found: list[BaseException] = []
    waiting: list[BaseException | None] = [error]
    while waiting and len(found) < _LONGEST_CHAIN:
        each = waiting.pop()
        if each is None or any(each is one for one in found):
            continue
        found.append(each)
        waiting += [each.__cause__, each.__context__]
        if isinstance(each, BaseExceptionGroup):
            waiting += each.exceptions
    return found


def _code(error: BaseException) -> list[str]:
    """What many libraries call the kind of a failure: `error.code`, such as "ENOENT"."""
    try:
        code = getattr(error, "code", None)
    except Exception:  # a property may raise whatever it likes
        return []
    return [code[:_LONGEST_CODE]] if type(code) is str else []
