"""Every exception of this package, in one tree. `RunFailed` is in contract.py, beside its result.

SandboxError
├── OptionError (TypeError, ValueError)   an option is wrong; raised before anything runs
├── SerializationError (TypeError)        a value cannot cross; `.path` says where it is
├── LimitError                            a run used up what it was lent; its code can catch this
├── RunFailed                             a run did not succeed; raised by `result.unwrap()`
├── RunEndedError                         a guest function was called after its run ended
├── EngineError                           the engine could not provide a worker
│   ├── IsolationError                    this machine cannot isolate workers as required
│   ├── EngineBusyError                   as many runs wait as may; try again later
│   └── EngineClosedError                 the engine was closed
├── McpServerError                        an MCP server cannot be used; nothing of it is lent
└── ProtocolError                         a worker sent an invalid message; it is discarded
"""

from __future__ import annotations


class SandboxError(Exception):
    """The base class: `except SandboxError` catches every error that this package defines."""


class OptionError(SandboxError, TypeError, ValueError):
    """An option is unknown or has an invalid value; `.option` is its name."""

    def __init__(self, message: str, option: str | None = None) -> None:
        super().__init__(message)
        self.option = option


class SerializationError(SandboxError, TypeError):
    """A value cannot cross; `.path` says where it is, for example `globals.rows[3].when`."""

    def __init__(self, message: str, path: str = "") -> None:
        super().__init__(f"{path}: {message}" if path else message)
        self.reason = message
        self.path = path


class LimitError(SandboxError):
    """A run used up what it was lent, such as its calls; raised into the run, which can catch it."""


class RunEndedError(SandboxError):
    """A guest function was called, but the run it belongs to is over."""


class EngineError(SandboxError):
    """The engine could not provide a worker."""


class IsolationError(EngineError):
    """The machine cannot provide the isolation that the engine is configured to require."""


class EngineBusyError(EngineError):
    """As many runs execute and wait as the engine is configured to allow; nothing was started."""


class EngineClosedError(EngineError):
    """The engine was closed; create a new one."""


class McpServerError(SandboxError):
    """An MCP server did not start, does not answer, or offers what cannot be lent."""


class ProtocolError(SandboxError):
    """A worker sent something that is not a valid protocol message."""
