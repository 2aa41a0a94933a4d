"""Callers' functions that raise where nobody waits: told a few times, without the guest's escapes."""

from __future__ import annotations

import asyncio
import gc
from typing import Any

import pytest

from sandbox_kernel import one_way, run_code

SOURCE = "for (let i = 0; i < 2000; i++) forget('\\x1b]0;title\\x07' + i); export default 1"


@one_way
def forget(text: str) -> None:
    raise ValueError(text)


def test_one_way_failures_are_told_a_few_times_and_then_counted(
    caplog: pytest.LogCaptureFixture,
) -> None:
    assert run_code(SOURCE, globals={"forget": forget}).wait(60).status == "success"
    told = [record.getMessage() for record in caplog.records if "one-way" in record.getMessage()]
    assert len(told) == 6
    assert told[-1] == "a one-way bridge raised, 1,995 more times"
    assert "ValueError: \\x1b]0;title\\x070" in told[0]
    assert "\x1b" not in "".join(told)


def test_a_sink_that_raises_is_told_a_few_times(caplog: pytest.LogCaptureFixture) -> None:
    def sink(value: Any) -> None:
        raise ValueError("x" * 100_000)

    run_code("for (let i = 0; i < 1000; i++) report(i)", report=sink).wait(60)
    told = [record.getMessage() for record in caplog.records if "sink" in record.getMessage()]
    assert len(told) == 6
    assert max(map(len, told)) < 11_000


async def test_a_handler_of_the_loop_gets_the_exception_itself() -> None:
    told: list[dict[str, Any]] = []
    asyncio.get_running_loop().set_exception_handler(lambda loop, context: told.append(context))
    await run_code("forget('once'); export default 1", globals={"forget": forget})
    assert [type(context["exception"]) for context in told] == [ValueError]


async def test_a_bridge_that_waits_for_a_guest_which_ended_is_not_reported() -> None:
    """That the run ended is no mistake of the bridge."""
    told: list[dict[str, Any]] = []
    asyncio.get_running_loop().set_exception_handler(lambda loop, context: told.append(context))

    async def ask(function: Any) -> Any:
        return await function()

    source = "ask(() => new Promise(() => {})); await ask(() => { throw_ = 1 }); export default 1"
    result = await run_code(source, globals={"ask": ask})
    assert result.status == "error"
    for _ in range(5):
        await asyncio.sleep(0)
    gc.collect()
    assert told == []
