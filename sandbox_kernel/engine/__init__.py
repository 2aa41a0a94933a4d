"""The host's side of the wall: it owns the workers and distrusts everything they say."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .engine import Engine as Engine
    from .pool import WorkerPool

__all__ = ["Engine", "default_backend"]


def default_backend() -> WorkerPool:
    """The engine that was configured, or else a pool that needs none of traitlets to start."""
    from .pool import WorkerPool

    configured = sys.modules.get(f"{__name__}.engine")
    if configured is not None and configured.Engine.initialized():
        engine: WorkerPool = configured.Engine.instance()
        return engine
    return WorkerPool.shared()


def __getattr__(name: str) -> Any:
    if name == "Engine":
        from .engine import Engine

        return Engine
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
