"""What an engine is made of: versions, isolation, limits; what `%doctor` shows."""

from __future__ import annotations

import platform
from importlib.metadata import PackageNotFoundError, version
from typing import Any

from ..wire.messages import FILTERED, ISOLATION_NAMES, PROCESS_ONLY
from .settings import Settings
from .zygote import filters_system_calls

_PACKAGES = ("sandbox-kernel", "quickjs-ng", "cffi", "tree-sitter", "tree-sitter-typescript")


def examine(settings: Settings) -> dict[str, Any]:
    """Plain data; nothing is started."""
    limits = settings._asdict()
    required = limits.pop("require_isolation")
    level = FILTERED if filters_system_calls() else PROCESS_ONLY
    return {
        "versions": {"python": platform.python_version()}
        | {name: _version(name) for name in _PACKAGES},
        "platform": f"{platform.system()} {platform.machine()}",
        "isolation": ISOLATION_NAMES[level],
        "isolation_required": required,
        "limits": limits,
    }


def _version(name: str) -> str | None:
    try:
        return version(name)
    except PackageNotFoundError:
        return None
