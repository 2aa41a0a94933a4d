"""How the inputs of `run_many` become runs: the unit of work, and each input in a sandbox of its own."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol

from ..backend import Backend
from ..contract import CodeExecutionError, CodeExecutionResult
from ..engine.settings import Settings
from ..errors import EngineBusyError, SerializationError
from ..execution import start_code
from ..lending import lend
from ..options import CodeExecutionOptions, Execute

_BUSY_SECONDS = 0.05  # until it is tried again


class Plan(Protocol):
    """Turns some inputs into as many results, whatever happens to them."""

    @property
    def size(self) -> int:
        """Inputs that the next unit of work should have."""

    async def run(self, values: Sequence[Any]) -> list[CodeExecutionResult]:
        """Raises only what concerns all of them, such as `EngineClosedError`."""


@dataclass(frozen=True)
class Work:
    """What is done with each input: a source, its checked options, and where."""

    backend: Backend
    source: str
    options: CodeExecutionOptions

    @property
    def fn(self) -> str:
        return self.options.execute.fn

    @property
    def memory_limit(self) -> int:
        """Bytes of the heap of each sandbox."""
        settings = getattr(self.backend, "settings", None) or Settings()
        return self.options.memory_limit_bytes or int(settings.default_memory_limit_bytes)


class EachAlone:
    """A sandbox for each input."""

    size = 1

    def __init__(self, work: Work) -> None:
        self._work = work

    async def run(self, values: Sequence[Any]) -> list[CodeExecutionResult]:
        return [await self._run(value) for value in values]

    async def _run(self, value: Any) -> CodeExecutionResult:
        work = self._work
        options = replace(work.options, execute=Execute(work.fn, (value,)))
        while True:
            try:
                order, lent = lend(work.source, options)
                return await start_code(work.backend, order, lent)
            except SerializationError as error:
                return refused(error, "execute.args[0]")
            except EngineBusyError:  # with what others run there
                await asyncio.sleep(_BUSY_SECONDS)


def refused(error: SerializationError, argument: str) -> CodeExecutionResult:
    """The result of an input that cannot cross; `argument` is its path as far as we made it."""
    path = "input" + error.path.removeprefix(argument)
    described = CodeExecutionError("SerializationError", f"{path}: {error.reason}")
    return CodeExecutionResult("error", error=described)
