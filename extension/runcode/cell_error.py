"""A failed run as the error of its cell, with the same traceback as in the kernel."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sandbox_kernel.contract import CodeExecutionResult
from sandbox_kernel.errors import SandboxError
from sandbox_kernel.notebook.show.traceback import Traceback, refusal_of

if TYPE_CHECKING:
    from sandbox_kernel.programs.contract import ProgramResult

    Result = CodeExecutionResult | ProgramResult


class CellError(Exception):
    """Raised out of a cell; `result` is None if nothing ran.

    IPython asks an exception for its traceback if it has `_render_traceback_`, and front ends show
    the name of its class: so each one gets a class that is named after the guest's error.
    """

    def __init__(self, traceback: Traceback, result: Result | None = None) -> None:
        super().__init__(traceback.message)
        self.traceback = traceback
        self.result = result

    def _render_traceback_(self) -> list[str]:
        return self.traceback.lines


def cell_error(traceback: Traceback, result: Result | None = None) -> CellError:
    kind: type[CellError] = type(traceback.name, (CellError,), {})
    return kind(traceback, result)


def refusal(error: SandboxError) -> CellError:
    """The error of a cell that did not run: a wrong option, a value that cannot cross."""
    return cell_error(refusal_of(error))
