"""The seam between the handle that people hold and whatever executes its run.

What is sent to a sandbox is an `Order`: plain data, which can be pickled and sent anywhere. What
is lent to it is `Lent`: live functions, which stay in this process and are called here.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

from .bridges import Bridges
from .contract import CodeExecutionError, CodeExecutionLog, Status
from .values import undefined
from .wire.order import Order


@dataclass(frozen=True, slots=True)
class Lent:
    """What one run may call here, and the sink of its reports if it may report."""

    bridges: Bridges
    report: Callable[[Any], Any] | None = None


@dataclass(frozen=True, slots=True)
class Outcome:
    """How a run ended."""

    status: Status
    result: Any = undefined
    error: CodeExecutionError | None = None
    memory_used_bytes: int | None = None


class Listener(Protocol):
    """Whom a backend tells everything, in order; `settled` last and once."""

    def on_report(self, value: Any) -> None: ...
    def on_log(self, log: CodeExecutionLog) -> None: ...
    def settled(self, outcome: Outcome) -> None: ...


class ActiveRun(Protocol):
    """A run under way, wherever it executes."""

    def terminate(self, reason: str | None) -> None:
        """From any thread; the listener hears of the end."""

    def memory_used_bytes(self) -> int | None:
        """The peak so far, or None where nobody can tell."""


class Backend(Protocol):
    """Whatever can execute runs: the local `Engine`, or another place that keeps this contract."""

    def start(
        self, order: Order, lent: Lent, listener: Listener, loop: asyncio.AbstractEventLoop
    ) -> ActiveRun:
        """From any thread. The listener is told, and lent functions are called, on `loop`."""
