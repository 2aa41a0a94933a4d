"""What a call is asked about, and kept as, is short, whatever the guest passes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from sandbox_kernel import run_code
from sandbox_kernel.calls import mark
from sandbox_kernel.permissions import ApprovalChoice, ApprovalRequest, Policy

LONG = "'x'.repeat(5e6)"


class Person:
    def __init__(self) -> None:
        self.asked: list[ApprovalRequest] = []

    async def ask(self, batch: Sequence[ApprovalRequest]) -> list[ApprovalChoice]:
        self.asked += batch
        return [ApprovalChoice.ALLOW_ONCE] * len(batch)


def read(path: str) -> int:
    return len(path)


def plainly(path: str) -> int:
    return len(path)


mark(read, will=lambda path: f"read {path}", rule=lambda path: "files.read")
mark(plainly, rule=lambda path: f"files.read:{path}")


async def test_what_the_host_will_do_is_said_briefly() -> None:
    person = Person()
    result = await run_code(
        f"export default read({LONG})", globals={"read": read}, policy=Policy({}, person)
    )
    assert result.unwrap() == 5_000_000
    (request,) = person.asked
    assert request.what is not None
    assert len(request.what) <= 10_000
    assert request.what.endswith(" MB more")
    assert len(result.calls[0]["args"]) <= 200


@pytest.mark.parametrize("rules", [{}, {"plainly": "allow"}])
async def test_a_name_for_rules_that_is_too_long_is_refused(rules: Any) -> None:
    """It cannot be cut, since a rule has to match what the host will do."""
    person = Person()
    result = await run_code(
        f"try {{ plainly({LONG}) }} catch (error) {{ report(error.message) }} export default 1",
        globals={"plainly": plainly},
        policy=Policy(rules, person),
        report=lambda said: None,
    )
    assert result.unwrap() == 1
    assert not person.asked
    assert result.reports == ["the names for rules of this call are too long"]
    assert result.calls[0]["outcome"] == "error"
