"""Runs on a Dask cluster: `run_code(source, engine=DaskEngine(client))`. Needs the extra `[dask]`.

`distributed` is imported with `DaskEngine`, and not before.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .engine import DaskEngine as DaskEngine

__all__ = ["DaskEngine"]


def __getattr__(name: str) -> Any:
    if name != "DaskEngine":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    try:
        from .engine import DaskEngine
    except ModuleNotFoundError as error:
        if error.name not in ("distributed", "dask", "msgpack", "tornado"):
            raise
        from ..errors import EngineError

        message = "DaskEngine needs distributed; install it: pip install 'sandbox-kernel[dask]'"
        raise EngineError(message) from error
    return DaskEngine
