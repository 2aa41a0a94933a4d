"""Asks in a notebook: on a card in the live view, by `input()` where no page answers, else nobody."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

from ...clean import clean_line, clean_name
from ...permissions import ApprovalChoice, ApprovalRequest, CannotAsk
from .desk import Desk, will_of
from .stdin import Line

PAGE_SECONDS = 3.0  # that a page has to draw the first card of a run
_LOOK = 0.05
_ANSWERS = {
    "y": ApprovalChoice.ALLOW_ONCE,
    "r": ApprovalChoice.ALLOW_RUN,
    "a": ApprovalChoice.ALLOW_ALWAYS,
}
_KEYS = "[y] once, [r] for this run, [a] always, anything else: no"


class NotebookPrompter:
    """Of one cell, made where the notebook's loop runs: blocking that keeps every answer away."""

    takes_more = True  # cards join a list that is open

    def __init__(self, line: Line | None, desk: Desk | None = None, source: str = "") -> None:
        """`desk` is that of the cell's live view, `source` the code whose lines call."""
        self._lines = source.split("\n") if source else []
        self._desk = desk
        self._line = line
        self._loop = _loop()
        self._one_line = asyncio.Lock()  # a person types one answer at a time

    async def ask(self, batch: Sequence[ApprovalRequest]) -> Any:
        if self._loop is not None and asyncio.get_running_loop() is not self._loop:
            raise CannotAsk(
                "this cell blocks the notebook while it runs, so that nobody could answer; let"
                " the magic be the cell's first line"
            )
        codes = [self._code(request.line) for request in batch]
        if self._desk is not None:
            answers = await self._on_page(self._desk, batch, codes)
            if answers is not None:
                return answers
            self._desk = None  # nobody looks at the page
        line = self._line
        if line is not None and line.is_there:
            async with self._one_line:
                return [await self._by_line(line, *each) for each in zip(batch, codes, strict=True)]
        raise CannotAsk(
            "it needs permission, and there is nobody to ask here; run the cell in a page, or"
            " without --ask"
        )

    async def _on_page(
        self, desk: Desk, batch: Sequence[ApprovalRequest], codes: Sequence[str | None]
    ) -> Any:
        """None if no page has drawn a card in time."""
        asking = asyncio.ensure_future(desk.choices(batch, codes))
        try:
            for _ in range(int(PAGE_SECONDS / _LOOK)):
                if desk.is_seen.is_set() or asking.done():
                    return await asking
                await asyncio.sleep(_LOOK)
            return None
        finally:
            asking.cancel()

    async def _by_line(self, line: Line, request: ApprovalRequest, code: str | None) -> Any:
        name = clean_name(request.tool_call.function.name)
        where = "" if code is None else f"\n  line {request.line}: {clean_line(code.strip())}"
        why = "" if request.why is None else f"\n  {request.why}"
        prompt = f"{name} asks for permission: {will_of(request)}{where}{why}\n{_KEYS} "
        answer = await line.ask(prompt)
        return _ANSWERS.get(answer.strip().lower(), ApprovalChoice.DENY_ONCE)

    def _code(self, number: int | None) -> str | None:
        known = number is not None and 1 <= number <= len(self._lines)
        return self._lines[number - 1][:500] if known and number is not None else None


def _loop() -> asyncio.AbstractEventLoop | None:
    """The notebook's own, if it has one."""
    try:
        return asyncio.get_running_loop()
    except RuntimeError:
        return None
