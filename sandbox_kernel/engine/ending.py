"""How a run ended, decided from what is known: pure functions."""

from __future__ import annotations

import signal
from dataclasses import replace

from ..backend import Outcome
from ..contract import CodeExecutionError, Status
from ..sizes import spell_size
from ..wire import messages
from ..wire.control import Record
from .incoming import Place

# Signals that an engine dies of when memory that it needs is refused.
_ENGINE_DEATHS = (signal.SIGSEGV, signal.SIGABRT, signal.SIGBUS, signal.SIGKILL)
_NEAR_LIMIT = 0.8


def reason_of(outcome: Outcome) -> str:
    """In a few words, for those who expected it to go on."""
    if outcome.error is None:
        return "finished"
    return outcome.error.message if outcome.status == "terminated" else str(outcome.error)


def terminated(reason: str | None) -> Outcome:
    message = reason or "terminated by the caller"
    return Outcome("terminated", error=CodeExecutionError("Terminated", message))


def placed(outcome: Outcome, place: Place | None) -> Outcome:
    """A run that was ended from outside says where it was computing, if it is known."""
    error = outcome.error
    if place is None or error is None or error.line is not None:
        return outcome
    if outcome.status not in ("terminated", "memory"):
        return outcome
    return replace(outcome, error=replace(error, **place._asdict()))


def crashed(message: str) -> Outcome:
    return Outcome("error", error=CodeExecutionError("SandboxCrash", message))


def out_of_memory(
    limit: int, used: int | None = None, error: CodeExecutionError | None = None
) -> Outcome:
    """`error` says where, if the worker could still tell."""
    message = f"the heap exceeded its limit of {spell_size(limit)}"
    place = error or CodeExecutionError("", "")
    described = replace(place, name="MemoryLimitExceeded", message=message)
    return Outcome("memory", error=described, memory_used_bytes=used)


def failed(
    status: Status, error: CodeExecutionError, heap_was_full: bool, used: int | None, limit: int
) -> Outcome:
    """The worker said that the run failed; whether for want of memory is ours to decide."""
    if status == "memory" or heap_was_full or (used is not None and used > limit):
        return out_of_memory(limit, used, error)
    return Outcome(status, error=error, memory_used_bytes=used)


def died(record: Record | None, *, cut_short: bool, memory_limit: int, cpu_seconds: int) -> Outcome:
    """The worker ended without a result: its exit status and its last bytes have to tell."""
    status = record.status if record else 0
    number, code = status & 0x7F, status >> 8
    near_limit = record is not None and record.kilobytes * 1024 > memory_limit * _NEAR_LIMIT
    if number == signal.SIGXCPU:
        return terminated(f"safety cap: more than {cpu_seconds} s of processor time")
    if code == messages.EXIT_UNLIMITED:
        message = "no worker can be used: the system does not let its memory be limited"
        return Outcome("error", error=CodeExecutionError("EngineError", message))
    if code == messages.EXIT_MEMORY or (number in _ENGINE_DEATHS and near_limit):
        return out_of_memory(memory_limit)
    if number:
        return crashed(f"the worker was ended by {signal.Signals(number).name}")
    if cut_short:
        return crashed("the worker ended in the middle of a message")
    return crashed("the worker ended without a result")
