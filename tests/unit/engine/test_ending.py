"""How a run ended, from what is known of its worker's end."""

from __future__ import annotations

import signal

import pytest

from sandbox_kernel.contract import CodeExecutionError
from sandbox_kernel.engine import ending
from sandbox_kernel.wire.control import EXITED, Record
from sandbox_kernel.wire.messages import EXIT_INTERNAL, EXIT_MEMORY

LIMIT = 64 * 2**20
BY_SEGV, BY_ABORT, BY_KILL, BY_XCPU = (
    int(number) for number in (signal.SIGSEGV, signal.SIGABRT, signal.SIGKILL, signal.SIGXCPU)
)


def exited(status: int, peak: int = 0) -> Record:
    return Record(EXITED, 1, status, peak // 1024)


@pytest.mark.parametrize(
    ("record", "cut_short", "status", "message"),
    [
        (None, False, "error", "the worker ended without a result"),
        (None, True, "error", "the worker ended in the middle of a message"),
        (exited(0), False, "error", "the worker ended without a result"),
        (exited(EXIT_INTERNAL << 8), True, "error", "the worker ended in the middle of a message"),
        (exited(EXIT_MEMORY << 8), False, "memory", "the heap exceeded its limit of 64 MiB"),
        (exited(EXIT_MEMORY << 8), True, "memory", "the heap exceeded its limit of 64 MiB"),
        (exited(BY_SEGV), False, "error", "the worker was ended by SIGSEGV"),
        (exited(BY_SEGV, LIMIT // 2), True, "error", "the worker was ended by SIGSEGV"),
        (exited(BY_SEGV, LIMIT), False, "memory", "the heap exceeded its limit of 64 MiB"),
        (exited(BY_ABORT, LIMIT), False, "memory", "the heap exceeded its limit of 64 MiB"),
        (exited(BY_KILL, LIMIT), False, "memory", "the heap exceeded its limit of 64 MiB"),
        (exited(BY_XCPU, LIMIT), False, "terminated", "safety cap: more than 9 s of processor time"),
    ],
)  # fmt: skip
def test_a_worker_that_died_without_a_result(
    record: Record | None, cut_short: bool, status: str, message: str
) -> None:
    outcome = ending.died(record, cut_short=cut_short, memory_limit=LIMIT, cpu_seconds=9)
    assert outcome.error is not None
    assert (outcome.status, outcome.error.message) == (status, message)


ERROR = CodeExecutionError("RangeError", "no", filename="a.ts", line=2, column=3)


@pytest.mark.parametrize(
    ("status", "heap_was_full", "used", "ends_as"),
    [
        ("error", False, None, "error"),
        ("error", False, LIMIT, "error"),
        ("error", False, LIMIT + 1, "memory"),
        ("error", True, None, "memory"),
        ("memory", False, 0, "memory"),
        ("link_error", False, 0, "link_error"),
    ],
)
def test_a_failure_is_for_want_of_memory_only_if_the_heap_was_full(
    status: str, heap_was_full: bool, used: int | None, ends_as: str
) -> None:
    outcome = ending.failed(status, ERROR, heap_was_full, used, LIMIT)  # type: ignore[arg-type]  # a status is a text here
    assert (outcome.status, outcome.memory_used_bytes) == (ends_as, used)
    assert outcome.error is not None
    assert (outcome.error.filename, outcome.error.line) == ("a.ts", 2)


def test_a_failure_keeps_its_error_unless_memory_was_the_reason() -> None:
    assert ending.failed("error", ERROR, False, 0, LIMIT).error is ERROR
    full = ending.failed("error", ERROR, True, 0, LIMIT).error
    assert full is not None
    assert full.name == "MemoryLimitExceeded"


def test_a_stop_without_a_reason_says_who_did_it() -> None:
    error = ending.terminated(None).error
    assert error is not None
    assert error.message == "terminated by the caller"
