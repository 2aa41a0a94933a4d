"""The interface between a run's handle and the backend that executes the run.

A sandbox is sent an `Order`: plain data, which can be pickled and sent anywhere. It is lent a
`Lent`: live functions, which stay in this process and are called here.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from .bridges import Bridges
from .calls import CallLog, Gate
from .contract import CodeExecutionError, CodeExecutionLog, Status
from .loans import Loan
from .values import GuestFunction, undefined
from .wire.order import Order

CANCELLED = "cancelled"  # the reason of a run that nobody waits for any more


@dataclass(frozen=True, slots=True)
class Lent:
    """The functions one run may call, the function that receives its reports, if any, the gate that
    stands before its calls, if it has a policy, what is known of them, and its loans of capabilities."""

    bridges: Bridges
    report: Callable[[Any], Any] | None = None
    gate: Gate | None = None
    calls: CallLog = field(default_factory=CallLog)
    loans: Sequence[Loan] = ()

    def close(self) -> None:
        """Once the run has ended, or could not be started."""
        for loan in self.loans:
            loan.close()


@dataclass(frozen=True, slots=True)
class Outcome:
    """How a run ended."""

    status: Status
    result: Any = undefined
    error: CodeExecutionError | None = None
    memory_used_bytes: int | None = None
    bridge_errors: tuple[BaseException, ...] = ()


class Listener(Protocol):
    """Receives everything a run does, in order; `settled` is called once, at the end."""

    handle: Callable[[], Any]
    """What the caller holds of the run; None if nobody holds it any more."""

    def on_start(self) -> None:
        """The run executes now, and waits no longer. Once, on any thread."""

    def on_asking(self, asking: bool) -> None:
        """A person is asked about calls from now on, or no longer."""

    def on_open(self, exports: Mapping[str, GuestFunction | None]) -> None:
        """The module stays open, and these may be called; None for an export that is not a function."""

    def on_report(self, value: Any) -> None: ...
    def on_log(self, log: CodeExecutionLog) -> None: ...
    def settled(self, outcome: Outcome) -> None: ...


class ActiveRun(Protocol):
    """A run in progress, wherever it executes."""

    def terminate(self, reason: str | None) -> None:
        """May be called from any thread; the listener is told when the run has ended."""

    def memory_used_bytes(self) -> int | None:
        """The peak so far, or None if it is not known."""

    def processor_seconds(self) -> float | None:
        """What it has computed so far, or None if that is not known."""


class ActiveCode(ActiveRun, Protocol):
    """A run of `run_code` or `open_code`."""

    def finish(self) -> None:
        """Nobody will call a module that stayed open any more: it ends as a success."""


class Backend(Protocol):
    """Executes runs: the local `Engine`, or any other implementation of this contract."""

    def start(
        self, order: Order, lent: Lent, listener: Listener, loop: asyncio.AbstractEventLoop
    ) -> ActiveCode:
        """May be called from any thread. Calls the listener and lent functions on `loop`."""
