"""The host's side of the wall: it owns the workers and distrusts everything they say."""

from __future__ import annotations

import sys
from functools import cache
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .engine import Engine as Engine
    from .pool import WorkerPool

__all__ = ["Engine", "default_backend"]


def default_backend() -> WorkerPool:
    """The engine that was configured, or else a pool that needs none of traitlets to start."""
    configured = sys.modules.get("sandbox_kernel.engine.engine")
    if configured is not None and configured.Engine.initialized():
        engine: WorkerPool = configured.Engine.instance()
        return engine
    return _pool_class().shared()


@cache
def _pool_class() -> type[WorkerPool]:
    from .pool import WorkerPool

    return WorkerPool


def __getattr__(name: str) -> Any:
    if name == "Engine":
        from .engine import Engine

        return Engine
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
