"""A question takes none of its run's time; what the run computes meanwhile does."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from time import monotonic
from typing import Any

import pytest

from sandbox_kernel import run_code, run_program
from sandbox_kernel.permissions import ApprovalChoice, ApprovalRequest, Policy

ALLOW = ApprovalChoice.ALLOW_ONCE
ASKING = {
    "python": "print(call_tool('later'))",
    "javascript": "console.log(await callTool('later'))",
}
BUSY = {
    "python": "import threading\n"
    "threading.Thread(target=call_tool, args=('later',), daemon=True).start()\nwhile True: pass",
    "javascript": "callTool('later'); for (;;);",
}


class Slow:
    """Answers when it is told to."""

    def __init__(self) -> None:
        self.asked, self.told = asyncio.Event(), asyncio.Event()

    async def ask(self, batch: Sequence[ApprovalRequest]) -> Any:
        self.asked.set()
        await self.told.wait()
        return [ALLOW] * len(batch)


async def later() -> int:
    return 7


def test_the_time_that_a_person_takes_is_not_the_runs() -> None:
    async def main() -> Any:
        person = Slow()
        run = run_code("export default f()", globals={"f": lambda: 7}, policy=Policy(ask=person))
        run.terminate_after(1)
        await person.asked.wait()
        await asyncio.sleep(1.5)
        person.told.set()
        return (await run).unwrap()

    assert asyncio.run(main()) == 7


def test_code_that_computes_while_it_waits_for_an_answer_is_charged_for_it() -> None:
    async def main() -> Any:
        person = Slow()
        source = "f(); for (;;); export default 1"
        run = run_code(source, globals={"f": later}, policy=Policy(ask=person)).terminate_after(0.4)
        result = await asyncio.wait_for(run, 60)
        assert person.asked.is_set()
        return result

    result = asyncio.run(main())
    assert (result.status, result.error.message) == ("terminated", "0.4s budget")


def test_after_the_answer_time_counts_again() -> None:
    async def main() -> Any:
        person = Slow()
        source = "await f(); for (;;); export default 1"
        run = run_code(source, globals={"f": later}, policy=Policy(ask=person)).terminate_after(0.4)
        await person.asked.wait()
        await asyncio.sleep(0.6)
        assert run.running
        person.told.set()
        return await asyncio.wait_for(run, 60)

    assert asyncio.run(main()).status == "terminated"


@pytest.mark.parametrize("language", ASKING)
def test_the_time_limit_of_a_program_pauses_too(language: str) -> None:
    async def main() -> Any:
        person = Slow()
        policy = Policy(ask=person)
        run = run_program(
            ASKING[language], language, tools=[later], policy=policy, timeout_ms=2_000
        )
        await person.asked.wait()
        await asyncio.sleep(2.5)
        assert run.running
        person.told.set()
        return await run

    result = asyncio.run(main())
    assert (result.stdout, result.killed) == ("7\n", False)


@pytest.mark.parametrize("language", ASKING)
def test_what_ends_a_program_after_a_time_pauses_too(language: str) -> None:
    async def main() -> Any:
        person = Slow()
        began = monotonic()
        run = run_program(ASKING[language], language, tools=[later], policy=Policy(ask=person))
        await person.asked.wait()
        run.terminate_after(monotonic() - began + 0.3)
        await asyncio.sleep(0.8)
        assert run.running
        run.terminate_after(60)
        person.told.set()
        return await run

    result = asyncio.run(main())
    assert (result.stdout, result.killed) == ("7\n", False)


@pytest.mark.parametrize("language", BUSY)
def test_computing_while_it_asks_counts_for_what_ends_it_after_a_time(language: str) -> None:
    async def main() -> Any:
        person = Slow()
        policy = Policy(ask=person)
        run = run_program(BUSY[language], language, tools=[later], policy=policy, timeout_ms=60_000)
        await person.asked.wait()
        run.terminate_after(0.5)
        return await asyncio.wait_for(run, 60)

    assert asyncio.run(main()).reason == "0.5s budget"


def test_a_program_that_computes_while_it_waits_for_an_answer_is_charged_for_it() -> None:
    async def main() -> Any:
        person = Slow()
        code = "import threading\nthreading.Thread(target=call_tool, args=('later',), daemon=True).start()\nwhile True: pass"
        run = run_program(code, tools=[later], policy=Policy(ask=person), timeout_ms=1_000)
        await person.asked.wait()
        return await asyncio.wait_for(run, 60)

    result = asyncio.run(main())
    assert (result.killed, result.exit_code) == (True, 137)
