"""Runs that nobody awaits in their cell: on the notebook's loop, or in a thread of their own."""

from __future__ import annotations

import asyncio
import sys
import threading
from collections.abc import Coroutine
from concurrent.futures import Future
from contextvars import copy_context
from typing import Any, TypeVar

from sandbox_kernel.contract import CodeExecutionResult
from sandbox_kernel.errors import SandboxError
from sandbox_kernel.execution import CodeExecution
from sandbox_kernel.notebook.cellrun import CellRun

from .cell_error import refusal

T = TypeVar("T")

_unfinished: set[asyncio.Task[None]] = set()  # keeps them alive: the loop has only weak references


def on_this_loop(cell: CellRun) -> CodeExecution:
    """Starts the run on the notebook's loop, beside whatever later cells await."""
    try:
        run = cell.start()
    except SandboxError as error:
        raise refusal(error) from None
    task = asyncio.get_running_loop().create_task(_finish_later(cell, run))
    _unfinished.add(task)
    task.add_done_callback(_unfinished.discard)
    return run


async def _finish_later(cell: CellRun, run: CodeExecution) -> None:
    _finish(cell, await run)


def in_a_thread(
    cell: CellRun, *, conclude: bool = False
) -> tuple[CodeExecution, Future[CodeExecutionResult]]:
    """Starts the run in a thread that waits for its result; raises here if it cannot start."""
    started: Future[CodeExecution] = Future()
    ended: Future[CodeExecutionResult] = Future()

    def work() -> None:
        try:
            run = cell.start()
        except BaseException as error:
            started.set_exception(error)
            return
        started.set_result(run)
        try:
            result = run.wait()
        except BaseException as error:
            ended.set_exception(error)
            return
        if conclude:
            _finish(cell, result)
        ended.set_result(result)

    context = copy_context()  # it says which cell output belongs to
    threading.Thread(target=context.run, args=(work,), name="runcode", daemon=True).start()
    try:
        return started.result(), ended
    except SandboxError as error:
        raise refusal(error) from None


def awaited_elsewhere(question: Coroutine[Any, Any, T]) -> T:
    """The answer to a short question, awaited in a thread, since the loop of this one may be running."""
    return awaited_in_a_thread(question).result()


def awaited_in_a_thread(work: Coroutine[Any, Any, T]) -> Future[T]:
    """Its result, once a thread of its own has awaited it."""
    answer: Future[T] = Future()

    def wait() -> None:
        try:
            answer.set_result(asyncio.run(work))
        except BaseException as error:
            answer.set_exception(error)

    context = copy_context()  # it says which cell output belongs to
    threading.Thread(target=context.run, args=(wait,), name="runcode", daemon=True).start()
    return answer


def _finish(cell: CellRun, result: CodeExecutionResult) -> None:
    """Prints a failure to stderr, since the cell itself has already ended."""
    traceback = cell.finish(result)
    if traceback is not None and result.status != "terminated":
        sys.stderr.write("\n".join(traceback.lines) + "\n")
