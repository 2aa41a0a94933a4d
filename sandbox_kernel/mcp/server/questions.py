"""Questions to the person at a client: one round for all calls of a run that wait at the same time.

A question stays open while its run waits. Whichever request of a client attends the run next brings
the person's answer; nobody has to be connected in the meantime.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from itertools import count
from typing import Any

from ...budget import capped
from ...calls import spelled
from ...clean import clean_line, clean_name
from ...permissions import ApprovalChoice, ApprovalRequest

_CHOICES = {
    "allow once": ApprovalChoice.ALLOW_ONCE,
    "allow for this run": ApprovalChoice.ALLOW_RUN,
    "always allow": ApprovalChoice.ALLOW_ALWAYS,
    "deny": ApprovalChoice.DENY_ONCE,
}
_LONGEST = 500  # characters about one call


class Question:
    """One round: a form with a choice for each call."""

    def __init__(self, number: int, batch: Sequence[ApprovalRequest]) -> None:
        self.number = number
        self.batch = list(batch)
        self.answer: asyncio.Future[list[ApprovalChoice]] = (
            asyncio.get_running_loop().create_future()
        )
        self.being_asked = False  # by a request that is still there

    @property
    def message(self) -> str:
        many = f"{len(self.batch)} calls" if len(self.batch) > 1 else "a call"
        lines = [f"{key}: {_described(each)}" for key, each in self._keyed()]
        return "\n".join([f"Code in the sandbox waits for permission to make {many}.", *lines])

    @property
    def schema(self) -> dict[str, Any]:
        """A form of the kind that every client knows: a list of choices for each call."""
        properties = {
            key: {"type": "string", "title": _named(each), "enum": list(_CHOICES)}
            for key, each in self._keyed()
        }
        return {"type": "object", "properties": properties, "required": list(properties)}

    def settle(self, action: str, content: Any) -> None:
        """A form that was declined, or that lacks a choice, is a no."""
        if self.answer.done():
            return
        given = content if action == "accept" and isinstance(content, dict) else {}
        chosen = [_choice(given.get(key)) for key, _ in self._keyed()]
        self.answer.set_result(chosen)

    def _keyed(self) -> list[tuple[str, ApprovalRequest]]:
        return [(f"call_{number}", each) for number, each in enumerate(self.batch, 1)]


class Questions:
    """The prompter of one run; `changed` tells whoever attends it."""

    def __init__(self, changed: Callable[[], None]) -> None:
        self._changed = changed
        self._numbers = count(1)
        self._open: Question | None = None

    @property
    def open(self) -> Question | None:
        """The one that waits for an answer."""
        return None if self._open is None or self._open.answer.done() else self._open

    async def ask(self, batch: Sequence[ApprovalRequest]) -> list[ApprovalChoice]:
        question = self._open = Question(next(self._numbers), batch)
        self._changed()
        try:
            return await question.answer
        finally:
            self._open = None
            self._changed()


def _choice(given: Any) -> ApprovalChoice:
    known = _CHOICES.get(given) if isinstance(given, str) else None
    return known or ApprovalChoice.DENY_ONCE


def _named(request: ApprovalRequest) -> str:
    return capped(clean_name(request.tool_call.function.name), 100)


def _described(request: ApprovalRequest) -> str:
    what = request.what or spelled(request.args)
    place = f" (line {request.line} of the code)" if request.line else ""
    again = f" ({request.why})" if request.why else ""
    return capped(f"{_named(request)}{clean_line(f'{place}{again}: {what}')}", _LONGEST)
