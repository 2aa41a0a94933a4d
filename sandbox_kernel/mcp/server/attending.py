"""One request attends a run: until it ends, until a person has to be asked, or until time is up."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence
from typing import Any, Literal, Protocol

import anyio

from ...budget import capped
from .cutting import Cutter
from .questions import Question
from .runs import KeptRun

MOST_ROUNDS = 8  # of questions in one call; clients give up after 10
_PACE = 0.05  # seconds between looks at reports
_AT_ONCE = 20  # reports that are told of at one look; of more the last
_LONGEST_REPORT = 2_000

# How the client can be asked: not at all, by a request of ours, or by our answer to its request.
Asks = Literal["never", "by request", "by answer"]


class Visitor(Protocol):
    """The client that made the request."""

    asks: Asks

    async def progress(self, count: int, text: str) -> None:
        """Tells of a report, if the client wants to hear of them."""

    async def elicit(self, question: Question) -> tuple[str, Any]:
        """The person's action, and the form as it was filled in."""


async def attend(
    kept: KeptRun, visitor: Visitor, seconds: float, rounds: int = 0
) -> Question | None:
    """A question for the answer to ask, or None: then the run's own answer is to be given.

    Time in which a person thinks does not count.
    """
    until = anyio.current_time() + seconds
    reports = _Reports(kept.reports, visitor)
    with kept.watched() as changed:
        while not kept.has_ended:
            changed.clear()
            await reports.tell()
            question = kept.questions.open
            if question is not None and not question.being_asked and rounds < MOST_ROUNDS:
                if visitor.asks == "by answer":
                    return question
                if visitor.asks == "by request":
                    began = anyio.current_time()
                    await _ask(question, visitor)
                    until += anyio.current_time() - began
                    rounds += 1
                    continue
            if (question is not None and rounds >= MOST_ROUNDS) or anyio.current_time() >= until:
                return None
            with anyio.move_on_at(until):
                await changed.wait()
        await reports.tell()
    return None


async def _ask(question: Question, visitor: Visitor) -> None:
    """Until the person answers, or the question goes away with its run."""
    question.being_asked = True
    asking = asyncio.create_task(visitor.elicit(question))
    try:
        either: set[asyncio.Future[Any]] = {asking, question.answer}
        await asyncio.wait(either, return_when=asyncio.FIRST_COMPLETED)
        if asking.done() and not question.answer.done():
            failed = asking.exception() is not None
            question.settle(*("cancel", None) if failed else asking.result())
    finally:
        question.being_asked = False
        asking.cancel()


class _Reports:
    """Tells the visitor of reports, at a pace that a flood of them does not change."""

    def __init__(self, reports: Sequence[Any], visitor: Visitor) -> None:
        self._reports = reports
        self._visitor = visitor
        self._told = 0

    async def tell(self) -> None:
        count = len(self._reports)
        for index in range(max(self._told, count - _AT_ONCE), count):
            spelled = Cutter(_LONGEST_REPORT).spell(self._reports[index])
            text = spelled if isinstance(spelled, str) else json.dumps(spelled, ensure_ascii=False)
            await self._visitor.progress(index + 1, capped(text, _LONGEST_REPORT))
        if self._told != count:
            self._told = count
            await anyio.sleep(_PACE)
