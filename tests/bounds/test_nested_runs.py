"""A guest whose bridges run code gets one worker more, not as many as it likes."""

from __future__ import annotations

import asyncio
from typing import Any

from sandbox_kernel import Engine, run_code


async def test_nested_runs_of_one_guest_execute_one_at_a_time() -> None:
    most = 0

    async def nested(n: int) -> Any:
        nonlocal most
        run = run_code(
            "await here(); export default n", engine=engine, globals={"n": n, "here": here}
        )
        return (await run).result

    async def here() -> None:
        nonlocal most
        most = max(most, engine.executing)
        await asyncio.sleep(0)

    source = (
        "export default (await Promise.all(Array.from({ length: 40 }, (_, n) => nested(n)))).length"
    )
    with Engine(spares=1, concurrency=1) as engine:
        result = await asyncio.wait_for(
            run_code(source, engine=engine, globals={"nested": nested}), 60
        )
        assert (result.status, result.result) == ("success", 40)
    assert most == 2


async def test_runs_within_runs_end_before_they_are_too_deep() -> None:
    async def again() -> Any:
        result = await run_code(SOURCE, engine=engine, globals={"again": again})
        return result.result if result.error is None else result.error.message

    SOURCE = "export default await again()"
    with Engine(spares=1, concurrency=1) as engine:
        result = await asyncio.wait_for(
            run_code(SOURCE, engine=engine, globals={"again": again}), 60
        )
    assert "nested 8 deep" in str(result.result)


async def test_parents_that_fill_every_place_do_not_wait_for_each_other() -> None:
    async def nested() -> Any:
        return (await run_code("export default 1", engine=engine)).result

    source = "export default await nested() + await nested()"
    with Engine(spares=1, concurrency=2) as engine:
        runs = [run_code(source, engine=engine, globals={"nested": nested}) for _ in range(6)]
        results = await asyncio.wait_for(asyncio.gather(*runs), 60)
    assert [result.result for result in results] == [2] * 6
