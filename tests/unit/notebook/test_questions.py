"""Who asks: a name that looks like another is spelled out, wherever a person reads it."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from sandbox_kernel.calls import Call
from sandbox_kernel.mcp.server import questions
from sandbox_kernel.notebook.ask.desk import Question
from sandbox_kernel.notebook.ask.prompter import NotebookPrompter
from sandbox_kernel.permissions import ApprovalChoice, ApprovalRequest

NAMES = {
    "m\u0430il.send": r"m\u0430il.send",
    "mail\u200b.send": r"mail\u200B.send",
    "mail.\u202esend": r"mail.\u202Esend",
    "mail.send\nmail.read": r"mail.send\nmail.read",
}


class Typing:
    """A front end with `input()`, where a person reads and says no."""

    is_there = True

    def __init__(self) -> None:
        self.read: list[str] = []

    async def ask(self, prompt: str) -> str:
        self.read.append(prompt)
        return "n"


def batch(name: str) -> Sequence[ApprovalRequest]:
    return [ApprovalRequest.of(Call(name, ["x"]))]


@pytest.mark.parametrize(("name", "shown"), NAMES.items())
async def test_a_name_that_looks_like_another_is_spelled_out(name: str, shown: str) -> None:
    card = Question(batch(name)[0], None).card()
    assert (card["name"], card["will"]) == (shown, f"{shown}('x')")
    line = Typing()
    answers = await NotebookPrompter(line).ask(batch(name))
    assert answers == [ApprovalChoice.DENY_ONCE]
    assert line.read[0].startswith(f"{shown} asks for permission: {shown}('x')\n")
    question = questions.Question(1, batch(name))
    assert question.message.splitlines()[1:] == [f"call_1: {shown}: 'x'"]
    assert question.schema["properties"]["call_1"]["title"] == shown
