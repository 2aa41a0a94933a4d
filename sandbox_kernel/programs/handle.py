"""`ProgramExecution`, the handle that `run_program` returns."""

from __future__ import annotations

import asyncio
import warnings
from typing import Protocol

from ..backend import ActiveRun
from ..errors import EngineError
from ..execution import Execution
from ..transcript import Transcript
from .active import Listener
from .contract import ProgramOptions, ProgramResult
from .protocol import PROCESS
from .streams import Chunk

_WEAK = (
    "this machine cannot isolate programs: without Landlock and namespaces, programs can read the"
    " files of their user (Programs.require_isolation is off)"
)


class ProgramBackend(Protocol):
    """Where programs run: `Programs`, or its pool."""

    def start(
        self, options: ProgramOptions, listener: Listener, loop: asyncio.AbstractEventLoop
    ) -> ActiveRun:
        """May be called from any thread. Tells the listener on `loop`."""


class ProgramTranscript(Transcript[ProgramResult]):
    """Listens to a program; its items are what it says."""

    items: list[Chunk]
    isolation: str | None = None  # the level of it
    problem: EngineError | None = None  # why there is no result

    def settled(self, result: ProgramResult | EngineError) -> None:
        if isinstance(result, EngineError):
            self.problem, result = result, _NOTHING
        self.end(result)


_NOTHING = ProgramResult("", "", "", -1)  # of a program that never began; nobody is given it


class ProgramExecution(Execution[ProgramResult]):
    """The handle of one program: await it, `wait()` for it, `stream()` it or `terminate()` it."""

    _transcript: ProgramTranscript

    def _result(self) -> ProgramResult:
        """Raises EngineError if no process could be had for it."""
        if self._transcript.problem is not None:
            raise self._transcript.problem
        if self._transcript.isolation == PROCESS:
            warnings.warn(_WEAK, stacklevel=3)
        return super()._result()

    def __repr__(self) -> str:
        result, problem = self._transcript.result, self._transcript.problem
        if result is None:
            return "<ProgramExecution running>"
        how = f"exit code {result.exit_code}" if problem is None else f"failed: {problem}"
        return f"<ProgramExecution {how}>"


def start_program(backend: ProgramBackend, options: ProgramOptions) -> ProgramExecution:
    """Starts the program on the backend, and returns its handle."""
    transcript = ProgramTranscript()
    transcript.begin(lambda loop: backend.start(options, transcript, loop))
    return ProgramExecution(transcript)
