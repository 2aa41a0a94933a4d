"""What an engine is made of: versions, isolation, limits; what `%doctor` shows."""

from __future__ import annotations

import platform
from importlib.metadata import PackageNotFoundError, version
from typing import TYPE_CHECKING, Any

from .zygote import filters_system_calls

if TYPE_CHECKING:
    from .pool import WorkerPool

_PACKAGES = ("sandbox-kernel", "quickjs-ng", "cffi", "tree-sitter", "tree-sitter-typescript")


def examine(engine: WorkerPool) -> dict[str, Any]:
    """Plain data; nothing is started."""
    filtered = filters_system_calls()
    return {
        "versions": {"python": platform.python_version()}
        | {name: _version(name) for name in _PACKAGES},
        "platform": f"{platform.system()} {platform.machine()}",
        "isolation": "seccomp" if filtered else "process",
        "isolation_required": engine.require_isolation,
        "limits": {
            name: getattr(engine, name)
            for name in (
                "spares",
                "concurrency",
                "default_memory_limit_bytes",
                "cpu_seconds",
                "output_bytes",
                "calls_in_flight",
                "message_bytes",
            )
        },
    }


def _version(name: str) -> str | None:
    try:
        return version(name)
    except PackageNotFoundError:
        return None
