"""Runs of every kind and end, one after another and many at once, and what the host holds on to after.

CI takes a few seconds of it; `SANDBOX_SOAK_SECONDS=300` is an hour's worth of a busy notebook's.
"""

from __future__ import annotations

import asyncio
import os
import random
import time
from collections import Counter
from typing import Any

from sandbox_kernel import run_code
from sandbox_kernel.engine import Engine
from tests.faults.health import descriptors, resident, until, workers, works

SECONDS = float(os.environ.get("SANDBOX_SOAK_SECONDS", "15"))

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


async def one(engine: Engine, kind: str) -> tuple[str, str]:
    source, expected = KINDS[kind]
    run = run_code(
        source, engine=engine, report=lambda value: None, memory_limit_bytes=8 * 2**20,
        globals={"sync": lend, "later": later, "forever": forever},
    )  # fmt: skip
    if expected == "terminated":
        await asyncio.sleep(0.01)
        run.terminate("soak")
    if kind == "killed":
        while not run.reports and run.running:
            await asyncio.sleep(0.005)
        os.kill(run._active._worker.pid, 9)  # type: ignore[union-attr]  # it runs
    return expected, (await run).status


async def soak(engine: Engine, seconds: float, tally: Counter[str]) -> None:
    draw = random.Random(1)
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        kinds = draw.choices(list(KINDS), k=24)
        for kind, (expected, got) in zip(
            kinds, await asyncio.gather(*(one(engine, kind) for kind in kinds)), strict=True
        ):
            assert got == expected, kind
            tally[kind] += 1


def test_a_soak_of_mixed_runs_grows_nothing() -> None:
    with Engine(spares=2, concurrency=8) as engine:
        tally: Counter[str] = Counter()
        asyncio.run(soak(engine, SECONDS / 3, tally))
        fds, memory = descriptors(engine), resident()
        asyncio.run(soak(engine, SECONDS * 2 / 3, tally))
        assert works(engine)
        assert until(lambda: len(workers(engine)) <= engine.spares)
        assert until(lambda: descriptors(engine) <= fds + 4)
        grown = resident() - memory
        runs = sum(tally.values())
        print(f"{runs} runs, {descriptors() - fds:+d} descriptors, {grown / 2**20:+.1f} MB")
        assert grown < 32 * 2**20 + 2000 * runs, f"grew by {grown} bytes over {runs} runs"
