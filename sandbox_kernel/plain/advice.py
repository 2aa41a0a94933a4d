"""What to say of a Python value that cannot cross, and what to pass instead."""

from __future__ import annotations

from types import ModuleType
from typing import Any

from ..brief import brief_name
from ..budget import clipped
from ..values import Opaque

_MESSAGE = 200  # characters of an exception's text
_OWN_CLASS = "pass a dict, or make its class a dataclass"


def refusal(value: Any) -> str:
    """`a value of type X cannot cross into the sandbox; pass …`"""
    return f"{describe(value)} cannot cross into the sandbox; {instead(value)}"


def unreadable(value: Any, error: Exception) -> str:
    """Code of the value's own class raised while it was read."""
    said = clipped(str(error), _MESSAGE)
    return (
        f"reading {describe(value)} raised {type(error).__name__}{': ' if said else ''}{said};"
        " pass a dict of what the sandbox needs"
    )


def describe(value: Any) -> str:
    kind = type(value)
    if isinstance(value, type):
        return f"the class {brief_name(value.__name__)}"
    return f"a value of type {brief_name(f'{kind.__module__}.{kind.__qualname__}')}".replace(
        "builtins.", ""
    )


def instead(value: Any) -> str:
    """What to pass instead, by what the value is and then by the name of its type."""
    for kinds, advice in _BY_KIND:
        if isinstance(value, kinds):
            return advice
    for attribute, advice in _BY_ATTRIBUTE:
        if hasattr(type(value), attribute):
            return advice
    return _BY_NAME.get(type(value).__name__, _OWN_CLASS)


_BY_KIND: tuple[tuple[type, str], ...] = (
    (type, "pass a function that uses it, such as lambda *args: vars(Class(*args))"),
    (ModuleType, "pass a dict of its functions"),
    (Opaque, "it only describes something of a guest; return plain data from the script"),
    (complex, "pass its .real and .imag"),
)
_BY_ATTRIBUTE = (
    ("model_dump", "pass its model_dump()"),
    ("to_dicts", "pass its to_dicts()"),
    ("__attrs_attrs__", "pass attrs.asdict(…) of it"),
    ("tolist", "pass its tolist()"),
    ("read", "pass what its read() gives"),
    ("__next__", "pass list(…) of it"),
    ("__aiter__", "pass [each async for each in …]"),
    ("__iter__", "pass list(…) of it"),
)
_BY_NAME = {
    "Fraction": "pass float(…) or str(…) of it",
    "Interval": "pass its .left and .right, or str(…) of it",
    "Pattern": "pass its .pattern",
    "ZoneInfo": "pass its .key",
    "object": "pass plain data such as a dict",
}
