"""A run always settles, whatever its sinks and bridges do."""

from __future__ import annotations

import asyncio
from typing import Any

from sandbox_kernel import RunEndedError, run_code


async def test_a_sink_that_calls_back_a_guest_that_has_finished_is_refused() -> None:
    refused: list[RunEndedError] = []

    async def sink(value: Any) -> None:
        try:
            while True:  # answered while the guest runs
                await value["done"]()
        except RunEndedError as error:
            refused.append(error)

    run = run_code("report({ done() {} }); export default 1", report=sink)
    result = await asyncio.wait_for(run, 20)
    assert (result.status, result.result, len(refused)) == ("success", 1, 1)
