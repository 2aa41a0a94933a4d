"""The questions of one run that a page may answer. Pages show them, and answer from any thread."""

from __future__ import annotations

import asyncio
import secrets
import threading
import time
from collections.abc import Sequence
from typing import Any

from ...calls import IN_A_QUESTION, spelled
from ...clean import clean_line, clean_name
from ...permissions import ApprovalChoice, ApprovalRequest

DEAD_SECONDS = (
    0.5  # after a card was drawn, so that a click meant for something else decides nothing
)
_CHOICES = {
    choice.value: choice
    for choice in (
        ApprovalChoice.ALLOW_ONCE,
        ApprovalChoice.ALLOW_RUN,
        ApprovalChoice.ALLOW_ALWAYS,
        ApprovalChoice.DENY_ONCE,
    )
}


class Question:
    """One call that waits for an answer, and what its card says."""

    def __init__(self, request: ApprovalRequest, code: str | None) -> None:
        self.ident = secrets.token_hex(8)
        self.choice: ApprovalChoice | None = None
        self.answered = asyncio.Event()
        self.drawn_at: float | None = None  # when a page said that it shows the card
        self._request = request
        self._code = code

    def card(self) -> dict[str, Any]:
        """All texts are harmless to show: names and arguments may be made to look like others."""
        request = self._request
        name = request.tool_call.function.name
        return {
            "id": self.ident,
            "name": clean_name(name[:IN_A_QUESTION]),
            "will": will_of(request),
            "line": request.line,
            "code": None if self._code is None else _shown(self._code.strip()),
            "why": None if request.why is None else _shown(request.why),
        }


class Desk:
    """Where questions lie until they are answered; others may join them meanwhile."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._questions: list[Question] = []
        self._loop: asyncio.AbstractEventLoop | None = None
        self.version = 0  # grows with every change, for those who draw
        self.is_seen = threading.Event()  # once a page has drawn a card

    @property
    def cards(self) -> list[dict[str, Any]]:
        with self._lock:
            return [each.card() for each in self._questions if each.choice is None]

    @property
    def is_open(self) -> bool:
        return bool(self._questions)

    async def choices(self, batch: Sequence[ApprovalRequest], codes: Sequence[str | None]) -> Any:
        """One for each request, when all are answered. Cancelling it takes the questions away."""
        questions = [Question(*each) for each in zip(batch, codes, strict=True)]
        self._loop = asyncio.get_running_loop()
        self._put([*self._questions, *questions])
        try:
            for each in questions:
                await each.answered.wait()
            return [each.choice for each in questions]
        finally:
            self._put([each for each in self._questions if each not in questions])

    def _put(self, questions: list[Question]) -> None:
        """Only the loop changes the list."""
        with self._lock:
            self._questions = questions
            self.version += 1

    def drawn(self, idents: Any) -> None:
        """A page shows these cards now. From any thread."""
        if not isinstance(idents, list):
            return
        with self._lock:
            for each in self._questions:
                if each.ident in idents:
                    each.drawn_at = time.monotonic()  # again, if the list has moved
                    self.is_seen.set()

    def answer(self, ident: Any, choice: Any) -> None:
        """A page's answer. What comes too early, or is no answer to a question, is not heard."""
        chosen = _CHOICES.get(choice) if isinstance(choice, str) else None
        with self._lock:
            found = next((each for each in self._questions if each.ident == ident), None)
            if found is None or chosen is None or found.choice is not None:
                return
            if found.drawn_at is None or time.monotonic() - found.drawn_at < DEAD_SECONDS:
                return
            found.choice = chosen
            self.version += 1
        if self._loop is not None:
            self._loop.call_soon_threadsafe(found.answered.set)


def will_of(request: ApprovalRequest) -> str:
    """What the host will do, or the call as it was made."""
    if request.what is not None:
        return _shown(request.what)
    name = clean_name(request.tool_call.function.name[:IN_A_QUESTION])
    return f"{name}({_shown(spelled(request.args, IN_A_QUESTION))})"


def _shown(text: str) -> str:
    return clean_line(text if len(text) <= IN_A_QUESTION else f"{text[:IN_A_QUESTION]}…")
