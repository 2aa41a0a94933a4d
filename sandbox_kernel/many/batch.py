"""Many inputs in one sandbox: they share a realm, and a batch that dies is halved.

Without lent functions a batch is one call, and may be made again: its answer counts, or nothing. With
them each input is a call of its own, so that no bridge is called twice for an input.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from string import Template
from time import perf_counter
from typing import Any

from ..budget import clipped
from ..contract import CodeExecutionError, CodeExecutionResult, RunFailed
from ..engine.ending import out_of_memory
from ..errors import RunEndedError, SerializationError
from ..execution import start_code
from ..jsonable import to_jsonable
from ..lending import lend
from ..opened import Module, OpenCode
from ..options import Execute
from ..values import GuestError, undefined
from .entry import DRIVER_NAME, ImportedSource
from .plan import Work, refused

_FIRST, _LARGEST = 16, 4096  # inputs
_SHORT, _LONG = 0.25, 1.0  # seconds that a batch should take, unless its sandbox took as long
_ANSWER = "result[0][1]"  # the path of an input's own result, if it is alone
_HEAP_WAS_FULL = ("InternalError", "out of memory")  # as a guest sees it, and may catch it
_LONGEST = 2000  # characters of what was thrown
_LOSSES = 5  # machines that a batch may lose
_DRIVER = Template("""\
import { $fn as mapped } from $source;
if (typeof mapped !== "function") throw new TypeError($refusal);
export const one = async (item) => await mapped(item);
export const each = async (items) => {
  const answers = [];
  for (const item of items) {
    try { answers[answers.length] = [true, await mapped(item)]; }
    catch (error) { answers[answers.length] = [false, error]; }
  }
  return answers;
};
""")


class ByBatch:
    """A sandbox for each batch; `size` is chosen by time if none is given."""

    def __init__(self, work: Work, size: int | None) -> None:
        options = work.options
        self._source = ImportedSource(work.source, options)
        self._work = work
        self._options = replace(
            options,
            execute=Execute(),
            filename=DRIVER_NAME,
            modules={**options.modules, self._source.name: work.source},
        )
        self._driver = _driver(work.fn, self._source.name)
        self._chosen = size is None
        self.size = size or _FIRST

    async def run(self, values: Sequence[Any]) -> list[CodeExecutionResult]:
        return await self._run(values, _LOSSES)

    def choose_size(self, count: int, opening: float, calling: float) -> None:
        """By the seconds that a sandbox took to be ready, and then its inputs; waiting for one is neither."""
        if not self._chosen or count != self.size:
            return
        if calling < max(_SHORT, 2 * opening):
            self.size = min(_LARGEST, 2 * count)
        elif calling > max(_LONG, 4 * opening):
            self.size = max(1, count // 2)

    async def _run(self, values: Sequence[Any], losses: int) -> list[CodeExecutionResult]:
        order, lent = lend(self._driver, self._options, stays_open=True)
        order = order._replace(one_call_at_a_time=True)
        calls_us = lent.report is not None or lent.bridges.lends_functions
        run = start_code(self._work.backend, order, lent)
        results: list[CodeExecutionResult] = []
        try:
            async with OpenCode(run) as module:
                opened = perf_counter()
                opening = opened - (run._transcript.started_at or opened)
                if calls_us:
                    await self._one_by_one(module, values, results)
                else:
                    results = self._results(await module.each(values), len(values))
                self.choose_size(len(values), opening, perf_counter() - opened)
                return results
        except RunFailed as failed:  # no input was looked at
            if _is_lost(failed.result) and losses:
                return await self._run(values, losses - 1)
            return [self._source.renamed(failed.result)] * len(values)
        except RunEndedError:
            end = self._source.renamed(await run)
            if calls_us:
                return await self._go_on(values, results, end, losses)
            if _is_lost(end) and losses:
                return await self._run(values, losses - 1)
            return await self._halved(values, end, losses)
        except SerializationError as error:
            return await self._halved(values, refused(error, "args[0][0]"), losses)
        except (GuestError, ValueError) as error:
            return await self._halved(values, self._failure(error), losses)

    async def _go_on(
        self,
        values: Sequence[Any],
        results: list[CodeExecutionResult],
        end: CodeExecutionResult,
        losses: int,
    ) -> list[CodeExecutionResult]:
        """One by one: the next was the culprit, and those after it were not looked at."""
        rest = values[len(results) + 1 :]
        return [*results, end, *(await self._run(rest, losses) if rest else [])]

    async def _halved(
        self, values: Sequence[Any], end: CodeExecutionResult, losses: int
    ) -> list[CodeExecutionResult]:
        if len(values) == 1:
            return [end]
        middle = len(values) // 2
        first = await self._run(values[:middle], losses)
        return first + await self._run(values[middle:], losses)

    async def _one_by_one(
        self, module: Module, values: Sequence[Any], results: list[CodeExecutionResult]
    ) -> None:
        for value in values:
            try:
                results.append(CodeExecutionResult("success", await module.one(value)))
            except SerializationError as error:
                results.append(refused(error, "args[0]"))
            except GuestError as error:
                results.append(self._failure(error))

    def _results(self, answers: Any, count: int) -> list[CodeExecutionResult]:
        """Raises ValueError if a guest has tampered with the answers."""
        if type(answers) is not list or len(answers) != count:
            raise ValueError("the guest changed the answers of its batch")
        results = []
        for answer in answers:
            if type(answer) is not list or len(answer) != 2 or type(answer[0]) is not bool:
                raise ValueError("the guest changed the answers of its batch")
            good, value = answer
            results.append(CodeExecutionResult("success", value) if good else self._failure(value))
        return results

    def _failure(self, thrown: Any) -> CodeExecutionResult:
        if isinstance(thrown, GuestError):
            message = thrown.message.replace(_ANSWER, "result", 1)
            error = self._source.thrown(thrown.name, message, thrown.stack)
            if (thrown.name, thrown.message) == _HEAP_WAS_FULL:
                end = out_of_memory(self._work.memory_limit, error=error)
                return CodeExecutionResult(end.status, error=end.error)
        elif isinstance(thrown, ValueError):
            error = CodeExecutionError("SandboxCrash", str(thrown))
        else:
            error = self._source.thrown("Error", _spelled(thrown), None)
        return CodeExecutionResult("error", error=error)


def _spelled(thrown: Any) -> str:
    """What is no error, as the guest wrote it."""
    if isinstance(thrown, str):
        return thrown
    if thrown is undefined:
        return "undefined"
    return clipped(
        json.dumps(to_jsonable(thrown), ensure_ascii=False, separators=(",", ":")), _LONGEST
    )


def _driver(fn: str, name: str) -> str:
    imported = fn if fn.isidentifier() else json.dumps(fn)
    refusal = f"export {fn!r} is not a function, so it cannot be called with an input"
    return _DRIVER.substitute(fn=imported, source=json.dumps(name), refusal=json.dumps(refusal))


def _is_lost(result: CodeExecutionResult) -> bool:
    return result.error is not None and result.error.name == "WorkerLost"
