"""The service: the same runs and programs behind HTTP, and its clients.

Names load on first use, because each side needs only its own half.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .engine import ServiceEngine as ServiceEngine
    from .runner import HttpRunner as HttpRunner
    from .runner import ServiceBackend as ServiceBackend
    from .service import Service as Service
    from .settings import Settings as Settings

_HOME = {
    "HttpRunner": "runner",
    "Service": "service",
    "ServiceBackend": "runner",
    "ServiceEngine": "engine",
    "Settings": "settings",
}

__all__ = ["HttpRunner", "Service", "ServiceBackend", "ServiceEngine", "Settings"]


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f".{_HOME[name]}", __name__), name)
