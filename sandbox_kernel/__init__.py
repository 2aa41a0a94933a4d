"""Untrusted code in a locked-down sandbox: `run_code(source)`, and `run_program(code)` for Python.

Names load on first use, because the worker imports this package too and must stay small.
"""

from __future__ import annotations

import sys
from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .bridges import one_way as one_way
    from .contract import CodeExecutionError as CodeExecutionError
    from .contract import CodeExecutionLog as CodeExecutionLog
    from .contract import CodeExecutionResult as CodeExecutionResult
    from .contract import RunFailed as RunFailed
    from .dataframe import to_frame as to_frame
    from .engine import Engine as Engine
    from .errors import EngineBusyError as EngineBusyError
    from .errors import EngineClosedError as EngineClosedError
    from .errors import EngineError as EngineError
    from .errors import IsolationError as IsolationError
    from .errors import OptionError as OptionError
    from .errors import RunEndedError as RunEndedError
    from .errors import SandboxError as SandboxError
    from .errors import SerializationError as SerializationError
    from .execution import CodeExecution as CodeExecution
    from .many import ManyExecution as ManyExecution
    from .npm import modules_from as modules_from
    from .opened import OpenCode as OpenCode
    from .options import CodeExecutionOptions as CodeExecutionOptions
    from .plain.columns import columns as columns
    from .programs import OutputFile as OutputFile
    from .programs import ProgramExecution as ProgramExecution
    from .programs import ProgramResult as ProgramResult
    from .programs import Programs as Programs
    from .replies import extract_code as extract_code
    from .run import evaluate as evaluate
    from .run import open_code as open_code
    from .run import run_code as run_code
    from .run import run_many as run_many
    from .run import run_program as run_program
    from .values import ArrayBuffer as ArrayBuffer
    from .values import BigInt as BigInt
    from .values import GuestError as GuestError
    from .values import GuestFunction as GuestFunction
    from .values import JSMap as JSMap
    from .values import JSSet as JSSet
    from .values import Opaque as Opaque
    from .values import undefined as undefined

__version__ = "0.1.0"

_HOME = {
    "one_way": "bridges",
    "CodeExecutionError": "contract",
    "CodeExecutionLog": "contract",
    "CodeExecutionOptions": "options",
    "CodeExecutionResult": "contract",
    "RunFailed": "contract",
    "to_frame": "dataframe",
    "Engine": "engine",
    "EngineBusyError": "errors",
    "EngineClosedError": "errors",
    "EngineError": "errors",
    "IsolationError": "errors",
    "OptionError": "errors",
    "RunEndedError": "errors",
    "SandboxError": "errors",
    "SerializationError": "errors",
    "CodeExecution": "execution",
    "ManyExecution": "many",
    "modules_from": "npm",
    "columns": "plain.columns",
    "extract_code": "replies",
    "OutputFile": "programs",
    "ProgramExecution": "programs",
    "ProgramResult": "programs",
    "Programs": "programs",
    "evaluate": "run",
    "OpenCode": "opened",
    "open_code": "run",
    "run_code": "run",
    "run_many": "run",
    "run_program": "run",
    "ArrayBuffer": "values",
    "BigInt": "values",
    "GuestError": "values",
    "GuestFunction": "values",
    "JSMap": "values",
    "JSSet": "values",
    "Opaque": "values",
    "undefined": "values",
}

__all__ = [*_HOME, "__version__"]


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        message = f"module {__name__!r} has no attribute {name!r}"
        raise AttributeError(message, name=name, obj=sys.modules[__name__])  # finds what is near
    value = getattr(import_module(f".{_HOME[name]}", __name__), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)


def load_ipython_extension(shell: Any) -> None:
    """What `%load_ext sandbox_kernel` calls: the same as `%load_ext runcode`."""
    import_module("runcode").load_ipython_extension(shell)


def unload_ipython_extension(shell: Any) -> None:
    """What `%unload_ext sandbox_kernel` calls."""
    import_module("runcode").unload_ipython_extension(shell)
