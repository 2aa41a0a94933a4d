"""Arguments of calls that the host holds on to count for as long as anything holds them."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator

import pytest

from sandbox_kernel import Engine, run_code

MIB = 2**20
HEAVY = "'x'.repeat(1 << 20)"


@pytest.fixture(scope="module")
def engine() -> Iterator[Engine]:
    found = Engine(output_bytes=8 * MIB, spares=1)
    yield found
    found.close()


async def test_a_heavy_call_that_is_sent_with_light_ones_counts_in_full(engine: Engine) -> None:
    held: list[str] = []

    async def keep(text: str) -> None:
        held.append(text)
        await asyncio.Event().wait()

    async def answer(number: int) -> int:
        return number

    source = f"""for (let k = 0; k < 100; k++) {{
        const light = [];
        for (let i = 0; i < 250; i++) light.push(answer(i));
        keep({HEAVY} + k);
        await Promise.all(light);
    }}"""
    lent = {"keep": keep, "answer": answer}
    result = await run_code(source, globals=lent, engine=engine)
    assert result.status == "terminated"
    assert result.error is not None
    assert "safety cap" in result.error.message
    assert 1 <= len(held) <= 8


@pytest.mark.parametrize("awaited", [False, True])
async def test_exceptions_of_bridges_hold_a_quarter_of_the_cap_at_most(
    engine: Engine, awaited: bool
) -> None:
    def fail(text: str) -> None:
        raise ValueError("no")

    async def fail_later(text: str) -> None:
        fail(text)

    source = f"for (let i = 0; i < 20; i++) try {{ await fail({HEAVY} + i) }} catch {{}}"
    lent = {"fail": fail_later if awaited else fail}
    result = await run_code(f"{source} export default 1", globals=lent, engine=engine)
    assert result.status == "success"
    assert len(result.bridge_errors) == 1


async def test_exceptions_about_little_are_all_kept(engine: Engine) -> None:
    def fail(text: str) -> None:
        raise ValueError(text)

    source = (
        f"for (let i = 0; i < 50; i++) try {{ fail(i) }} catch {{}}"
        f" try {{ fail({HEAVY}.repeat(3)) }} catch {{}} try {{ fail('last') }} catch {{}}"
    )
    result = await run_code(f"{source} export default 1", globals={"fail": fail}, engine=engine)
    assert len(result.bridge_errors) == 51
    assert str(result.bridge_errors[-1]) == "last"
