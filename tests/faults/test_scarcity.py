"""Too few descriptors, too little memory, too many runs: each run ends as it should, and then all is well."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
from typing import Any

import pytest

from sandbox_kernel import run_code
from sandbox_kernel.engine import Engine
from tests.faults.health import at_rest, descriptors, works
from tests.waiting import until

AT_ONCE = 1_000 if "SANDBOX_SOAK_SECONDS" in os.environ else 250


async def double(n: int) -> int:
    await asyncio.sleep(0)
    return 2 * n


@pytest.mark.scaled
def test_many_runs_at_once() -> None:
    """On one loop, each with a report, a log, a call and a result of its own."""

    async def main(engine: Engine) -> list[Any]:
        source = "report(n); console.log(n); export default await double(n)"
        runs = [
            run_code(
                source, engine=engine, globals={"n": n, "double": double}, report=lambda v: None
            )
            for n in range(AT_ONCE)
        ]
        return await asyncio.gather(*runs)

    before = descriptors()
    with Engine(concurrency=16) as engine:
        results = asyncio.run(main(engine))
        assert [r.result for r in results] == [2 * n for n in range(AT_ONCE)]
        assert [r.reports for r in results] == [[n] for n in range(AT_ONCE)]
        assert [r.logs[0].args for r in results] == [(n,) for n in range(AT_ONCE)]
        assert until(lambda: at_rest(engine))
    assert until(lambda: descriptors() <= before)


def test_hundreds_of_runs_without_a_loop() -> None:
    with Engine(concurrency=16) as engine:
        runs = [run_code(f"export default {n}", engine=engine) for n in range(200)]
        assert [run.wait(60).result for run in runs] == list(range(200))
        assert works(engine)


FULL = """
import os, resource
from sandbox_kernel import run_code
from sandbox_kernel.engine import Engine
from sandbox_kernel.errors import SandboxError
import asyncio
run_code("export default 1").wait(30)
resource.setrlimit(resource.RLIMIT_NOFILE, (64, 64))
engine = Engine(spares=0)

async def attempts():
    held = []
    try:
        while True: held.append(os.open("/dev/null", os.O_RDONLY))
    except OSError: pass
    failed = [await run_code("export default 1", engine=engine) for _ in range(5)]
    for fd in held: os.close(fd)
    good = [await run_code("export default 1", engine=engine) for _ in range(5)]
    return failed, good

failed, good = asyncio.run(attempts())
assert {(r.status, r.error.name) for r in failed} == {("error", "EngineError")}, failed
assert {"Too many open files" in r.error.message for r in failed} == {True}, failed
assert [r.result for r in good] == [1] * 5, good
held = []
try:
    while True: held.append(os.open("/dev/null", os.O_RDONLY))
except OSError: pass
runs = []
try:
    for _ in range(5): runs.append(run_code("export default 1", engine=engine))
except SandboxError as error: assert "Too many open files" in str(error), error
assert {run.wait(30).status for run in runs} <= {"error"}
for fd in held: os.close(fd)
assert run_code("export default 2", engine=engine).wait(30).result == 2
engine.close()
print("held out")
"""


def script(source: str) -> str:
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", source],
        capture_output=True, text=True, timeout=120, check=False,
    )  # fmt: skip
    return done.stdout.strip() or done.stderr[-2000:]


def test_a_full_table_of_descriptors() -> None:
    assert script(FULL) == "held out"


PRESSED = """
import resource
from sandbox_kernel import run_code
run_code("export default 1").wait(30)
size = int(open("/proc/self/statm").read().split()[0]) * 4096
resource.setrlimit(resource.RLIMIT_AS, (size + 20 * 2**20,) * 2)
big = run_code("report('first'); export default new Uint8Array(30 * 2**20)",
               memory_limit_bytes=400 * 2**20, report=lambda v: None).wait(60)
assert (big.status, big.error.name) == ("error", "SandboxCrash"), big
assert big.error.message == "the host could not handle a message: MemoryError", big.error
assert big.reports == ["first"], big.reports
small = run_code("export default 1").wait(30)
assert small.result == 1, small
print("held out")
"""


def test_a_host_short_of_memory() -> None:
    assert script(PRESSED) == "held out"


def test_many_engines_opened_and_closed() -> None:
    before = descriptors()
    for _ in range(8):
        with Engine(spares=2) as engine:
            assert works(engine)
            assert descriptors(engine) > before
    assert until(lambda: descriptors() <= before)
