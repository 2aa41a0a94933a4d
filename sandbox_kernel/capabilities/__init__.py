"""Ready-made things to lend: `run_code(source, lend=[files("data"), timers()])`.

Names load on first use: few programs need all of them. No file has the name of a function here, since
importing it would hide the function.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ..loans import Capability as Capability
    from .checking import checked as checked
    from .fetching import fetch as fetch
    from .filesystem import files as files
    from .hosts import Host as Host
    from .limiting import limited as limited
    from .showing import display as display
    from .timing import timers as timers
    from .webbasics import web as web

_HOME = {
    "Capability": "..loans",
    "checked": ".checking",
    "fetch": ".fetching",
    "Host": ".hosts",
    "files": ".filesystem",
    "limited": ".limiting",
    "display": ".showing",
    "timers": ".timing",
    "web": ".webbasics",
}

__all__ = [*_HOME]


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(_HOME[name], __name__), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
