"""Runs of every kind and end, one after another and many at once, and what the host holds on to after.

CI takes a few seconds of it; `make soak` sets SANDBOX_SOAK_SECONDS and takes ten minutes.
"""

from __future__ import annotations

import asyncio
import gc
import operator
import os
import random
import signal
import time
from collections import Counter
from typing import Any

import pytest

from sandbox_kernel import run_code
from sandbox_kernel.engine import Engine
from tests.faults.health import descriptors, resident, works
from tests.waiting import until

pytestmark = pytest.mark.scaled
SECONDS = float(os.environ.get("SANDBOX_SOAK_SECONDS", "6"))
IN_A_ROW = 10_000 if "SANDBOX_SOAK_SECONDS" in os.environ else 300

KINDS: dict[str, tuple[str, str]] = {
    "result": ("export default { a: [1, 2, 3] }", "success"),
    "typescript": ("enum E { A = 1 } export default (x: number = E.A) => x", "success"),
    "reports": ("for (let i = 0; i < 200; i++) report({ i })", "link_error"),
    "logs": ("for (let i = 0; i < 100; i++) console.log(i, 'x'); export default 1", "success"),
    "calls": ("for (let i = 0; i < 20; i++) sync(i); export default await later([1])", "success"),
    "binary": ("export default new Uint8Array(200000)", "success"),
    "throws": ("throw new TypeError('x')", "error"),
    "rejects": ("export default async () => { await later(1); throw 1 }", "error"),
    "syntax": ("let let = ;", "link_error"),
    "import": ("import 'nothing'", "link_error"),
    "memory": ("const a = []; for (;;) a.push(new Array(1e4).fill(1))", "memory"),
    "deadlock": ("await new Promise(() => {})", "error"),
    "terminated": ("for (;;);", "terminated"),
    "hung": ("await forever()", "terminated"),
    "killed": ("report(1); for (;;);", "error"),
    "lends": ("export default await sync(() => 1, Promise.resolve(2))", "success"),
}


async def later(value: Any) -> Any:
    await asyncio.sleep(0.001)
    return value


async def forever() -> None:
    await asyncio.Event().wait()


def lend(*args: Any) -> Any:
    return None


async def one(kind: str, engine: Engine, victims: Engine) -> tuple[str, str]:
    """Expected and actual status; `victims` runs one at a time, so that its worker is known."""
    source, expected = KINDS[kind]
    run = run_code(
        source, engine=victims if kind == "killed" else engine, report=lambda value: None,
        memory_limit_bytes=8 * 2**20, globals={"sync": lend, "later": later, "forever": forever},
    )  # fmt: skip
    if expected == "terminated":
        await asyncio.sleep(0.01)  # whatever it is doing by then, or still in the queue
        run.terminate("soak")
    if kind == "killed":
        await anext(run.stream())
        (worker,) = victims.processes().workers
        os.kill(worker, signal.SIGKILL)
    return expected, (await run).status


async def soak(engine: Engine, victims: Engine, seconds: float, tally: Counter[str]) -> None:
    draw = random.Random(1)
    end = time.monotonic() + seconds
    while time.monotonic() < end or len(tally) < len(KINDS):
        kinds = draw.choices(list(KINDS), k=24)
        ends = await asyncio.gather(*(one(kind, engine, victims) for kind in kinds))
        for kind, (expected, got) in zip(kinds, ends, strict=True):
            assert got == expected, kind
            tally[kind] += 1


class Growth:
    """What this process holds more than when this was made; the engines are at rest both times."""

    def __init__(self, *engines: Engine) -> None:
        self._engines = engines
        self._before = self._held()

    def _held(self) -> tuple[int, int, int]:
        return descriptors(*self._engines), resident(), len(gc.get_objects())

    def check(self, runs: int) -> None:
        """Not one descriptor; one object a run would be many times what is allowed."""
        assert until(lambda: descriptors(*self._engines) <= self._before[0]), self._held()
        _, memory, objects = map(operator.sub, self._held(), self._before)
        print(f"{runs} runs: {memory / 2**20:+.1f} MB, {objects:+d} objects")
        assert objects < 300 + runs // 20
        assert memory < 32 * 2**20


def test_a_soak_of_mixed_runs_grows_nothing() -> None:
    with (
        Engine(spares=2, concurrency=8) as engine,
        Engine(spares=1, concurrency=1) as victims,
    ):
        tally: Counter[str] = Counter()
        asyncio.run(soak(engine, victims, SECONDS / 3, tally))
        assert set(tally) == set(KINDS)
        growth = Growth(engine, victims)
        asyncio.run(soak(engine, victims, SECONDS * 2 / 3, tally))
        assert works(engine)
        growth.check(sum(tally.values()))


def test_many_runs_in_a_row_grow_nothing() -> None:
    def settle(count: int) -> None:
        for n in range(count):
            run = run_code("export default n", globals={"n": n}, language="javascript")
            assert run.wait(30).result == n

    settle(IN_A_ROW // 10)
    growth = Growth()
    settle(IN_A_ROW)
    growth.check(IN_A_ROW)
