"""What an engine is made of: versions, isolation, limits; what `%doctor` shows."""

from __future__ import annotations

import platform
from importlib.metadata import PackageNotFoundError, version
from typing import Any

from ..isolation.identity import Identity
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
        "worker_user": _worker_user(Identity.of("self")),
        "limits": limits,
    }


def _worker_user(host: Identity) -> str:
    """Root's workers are nobody, where root may limit and kill processes that are not its own."""
    if not host.is_root:
        return "the host's"
    return "nobody" if host.can_host_nobody else "root without capabilities"


def _version(name: str) -> str | None:
    try:
        return version(name)
    except PackageNotFoundError:
        return None
