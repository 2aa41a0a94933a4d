"""Types of modules that may not be loaded. Looking for them never imports anything."""

from __future__ import annotations

import sys
from collections.abc import Collection
from typing import Any


def module(name: str) -> Any:
    """The module, or None if nobody has imported it."""
    return sys.modules.get(name)


def library_of(kind: type, libraries: Collection[str]) -> str | None:
    """The first of these libraries that a class, or one that it is derived from, is defined in."""
    for base in kind.__mro__:
        root = base.__module__.partition(".")[0]
        if root in libraries:
            return root
    return None


def types_in(name: str, *attributes: str) -> tuple[Any, ...]:
    """These types of a module, for `isinstance`; none if nobody has imported it."""
    found = sys.modules.get(name)
    if found is None:
        return ()
    named = (getattr(found, attribute, None) for attribute in attributes)
    return tuple(kind for kind in named if isinstance(kind, type))
