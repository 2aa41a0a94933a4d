"""Programs: source that runs as a process of its own, with files, streams and an exit code.

Names load on first use: the zygote of programs passes through here too, and must stay small.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .contract import ProgramResult as ProgramResult
    from .handle import ProgramExecution as ProgramExecution
    from .outputs import OutputFile as OutputFile
    from .programs import Programs as Programs

_HOME = {
    "OutputFile": "outputs",
    "ProgramExecution": "handle",
    "ProgramResult": "contract",
    "Programs": "programs",
}

__all__ = ["OutputFile", "ProgramExecution", "ProgramResult", "Programs"]


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f".{_HOME[name]}", __name__), name)
