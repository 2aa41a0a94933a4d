"""Who is asked in tests."""

from __future__ import annotations

from collections.abc import Sequence

from sandbox_kernel.permissions import ApprovalChoice, ApprovalRequest


class Person:
    """Answers one after the other, the last one for ever, and remembers what it was asked."""

    def __init__(self, *answers: ApprovalChoice) -> None:
        self._answers = list(answers)
        self.batches: list[list[ApprovalRequest]] = []

    @property
    def asked(self) -> list[ApprovalRequest]:
        return [each for batch in self.batches for each in batch]

    @property
    def names(self) -> list[str]:
        return [each.tool_call.function.name for each in self.asked]

    async def ask(self, batch: Sequence[ApprovalRequest]) -> list[ApprovalChoice]:
        self.batches.append(list(batch))
        return [self._answer() for _ in batch]

    def _answer(self) -> ApprovalChoice:
        return self._answers.pop(0) if len(self._answers) > 1 else self._answers[0]
