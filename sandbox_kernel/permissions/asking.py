"""Asks a person about calls: one batch at a time, with an end, and a no for whatever goes wrong."""

from __future__ import annotations

import asyncio
import inspect
import warnings
from collections.abc import Callable, Sequence
from typing import Any, Protocol

from ..calls import Call, Decision
from .effects import ApprovalChoice, ApprovalRequest

SECONDS = 300.0  # after which a question that nobody answered is a no
MOST_QUESTIONS = 20  # of one run
GATHERING = 0.05  # seconds that a run's question waits for calls that are made at the same time


Waiting = tuple[Call, "asyncio.Future[Decision]"]


class Prompter(Protocol):
    """Asks a person. `ask` may be a coroutine function; a plain one is called on a thread.

    It is called again only when it has answered, unless it has a true attribute `takes_more`.
    """

    def ask(self, batch: Sequence[ApprovalRequest]) -> Any:
        """A list with one `ApprovalChoice` for each request."""


class CannotAsk(Exception):
    """A prompter raises it where there is nobody to ask; the message says why, and is told to code."""


class Asking:
    """The questions of one run or one gate. Calls that wait at the same time are one batch."""

    def __init__(
        self, prompter: Prompter, *, most: int | None = None, gathering: float = 0
    ) -> None:
        self._prompter = prompter
        self._left = most
        self._gathering = gathering
        self._takes_more = getattr(prompter, "takes_more", False) is True
        self._waiting: list[Waiting] = []
        self._task: asyncio.Task[None] | None = None
        self._open: set[asyncio.Task[None]] = set()  # questions beside each other

    async def about(self, call: Call) -> Decision:
        """The decision. Whoever is cancelled meanwhile asks no longer."""
        if self._left == 0:
            return denied(call, "this run has asked too many questions already")
        if self._left is not None:
            self._left -= 1
        answer: asyncio.Future[Decision] = asyncio.get_running_loop().create_future()
        self._waiting.append((call, answer))
        if self._task is None:
            self._task = asyncio.create_task(self._ask_all())
        return await answer

    def close(self) -> None:
        """The run is over: an open question goes away, and nobody hears the answer."""
        self._waiting.clear()
        for task in (self._task, *self._open):
            if task is not None:
                task.cancel()

    async def _ask_all(self) -> None:
        try:
            while True:
                await asyncio.sleep(self._gathering)  # calls of one turn belong to one question
                batch = [each for each in self._waiting if not each[1].done()]
                self._waiting = []
                if not batch:
                    return
                if not self._takes_more:
                    await self._settle(batch)
                    continue
                task = asyncio.create_task(self._settle(batch))
                self._open.add(task)
                task.add_done_callback(self._open.discard)
        finally:
            self._task = None

    async def _settle(self, batch: list[Waiting]) -> None:
        decisions = await self._ask([call for call, _ in batch])
        for (_, answer), decision in zip(batch, decisions, strict=True):
            if not answer.done():
                answer.set_result(decision)

    async def _ask(self, calls: list[Call]) -> list[Decision]:
        try:
            given = await asyncio.wait_for(self._answers(calls), SECONDS)
        except TimeoutError:
            why = f"nobody answered within {SECONDS / 60:g} minutes"
            return [denied(call, why) for call in calls]
        except CannotAsk as error:
            return [denied(call, str(error), "deny") for call in calls]
        except Exception as error:
            _tell(f"it raised {type(error).__name__}: {error}")
            return [denied(call, "asking for permission failed") for call in calls]
        return _decisions(calls, given)

    async def _answers(self, calls: list[Call]) -> Any:
        batch = [ApprovalRequest.of(call) for call in calls]
        ask = self._prompter.ask
        try:
            if inspect.iscoroutinefunction(ask):
                return await ask(batch)
            answers = await asyncio.to_thread(_asked_plainly, ask, batch)
            return await answers if inspect.isawaitable(answers) else answers
        except SystemExit as error:
            raise _failure(error) from error
        except asyncio.CancelledError as error:
            task = asyncio.current_task()
            if task is not None and task.cancelling():
                raise
            raise _failure(error) from error  # of something that the prompter waited for


def _asked_plainly(ask: Callable[[Sequence[ApprovalRequest]], Any], batch: Any) -> Any:
    try:
        return ask(batch)
    except BaseException as error:
        if isinstance(error, Exception) and not isinstance(error, StopIteration):
            raise
        raise _failure(error) from error


def _failure(error: BaseException) -> Exception:
    """Of what would end the loop, such as SystemExit, or leave a future without an end."""
    return RuntimeError(f"{type(error).__name__} {error}".strip())


def denied(call: Call, why: str, how: str = ApprovalChoice.DENY_ONCE.value) -> Decision:
    return Decision(False, how, f"{call.name} was not allowed: {why}")


def _decisions(calls: list[Call], given: Any) -> list[Decision]:
    """A choice that is missing or is none is a no; if there are too many, nobody knows whose each is."""
    choices = list(given) if isinstance(given, list | tuple) and len(given) <= len(calls) else []
    if len(choices) != len(calls) or not all(isinstance(c, ApprovalChoice) for c in choices):
        asked = "one call" if len(calls) == 1 else f"{len(calls)} calls"
        _tell(f"it was asked about {asked} and answered {given!r:.200}")
    missing = [None] * (len(calls) - len(choices))
    return [_decision(call, c) for call, c in zip(calls, [*choices, *missing], strict=True)]


def _decision(call: Call, choice: object) -> Decision:
    if not isinstance(choice, ApprovalChoice):
        return denied(call, "the answer was not a choice")
    if choice.allows:
        return Decision(True, choice.value)
    return denied(call, "a person said no", choice.value)


def _tell(what: str) -> None:
    warnings.warn(
        f"the prompter did not answer as it should, so the answer is no: {what}", stacklevel=2
    )
