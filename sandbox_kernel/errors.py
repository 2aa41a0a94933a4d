"""Every exception of this package, in one tree.

SandboxError
├── OptionError (TypeError, ValueError)   an option is wrong; raised before anything runs
├── SerializationError (TypeError)        a value cannot cross; `.path` says where it sits
├── RunEndedError                         a guest function was called after its run ended
├── EngineError                           the engine could not give a run its worker
│   ├── IsolationError                    this machine cannot isolate as the engine demands
│   └── EngineClosedError                 the engine was closed
└── ProtocolError                         bytes from a worker that are no message; it is discarded
"""

from __future__ import annotations


class SandboxError(Exception):
    """The root: `except SandboxError` catches whatever this package raises on its own account."""


class OptionError(SandboxError, TypeError, ValueError):
    """An option is unknown, misspelled or of the wrong shape; `.option` names it."""

    def __init__(self, message: str, option: str | None = None) -> None:
        super().__init__(message)
        self.option = option


class SerializationError(SandboxError, TypeError):
    """A value cannot cross; `.path` is where it sits, such as `globals.rows[3].when`."""

    def __init__(self, message: str, path: str = "") -> None:
        super().__init__(f"{path}: {message}" if path else message)
        self.reason = message
        self.path = path


class RunEndedError(SandboxError):
    """A guest function was called, but the run it belongs to is over."""


class EngineError(SandboxError):
    """The engine could not provide a worker."""


class IsolationError(EngineError):
    """The machine cannot provide the isolation that the engine is configured to require."""


class EngineClosedError(EngineError):
    """The engine was closed; make another one."""


class ProtocolError(SandboxError):
    """A worker sent something that is no message of the protocol."""
