"""Measures the cost of erasing TypeScript: `python -m benchmarks.typescript`.

Prints the time for 1,000 to 16,000 lines of ordinary code, for loading the eraser, and for the first
run of a process in TypeScript and in JavaScript.
"""

from __future__ import annotations

import gc
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from functools import partial

from .work import typed_lines

_FIRST_RUN = """
import time
start = time.perf_counter()
from sandbox_kernel import run_code
result = run_code({source!r}, language={language!r}).wait()
assert result.status == "success", result
print(time.perf_counter() - start)
"""
_LOADING = """
import time
start = time.perf_counter()
from sandbox_kernel.worker.typescript import warm
imported = time.perf_counter()
warm()
print(imported - start, time.perf_counter() - imported)
"""


def best(call: Callable[[], object], times: int = 9) -> float:
    """Seconds of the fastest of a few calls, because the rest is noise."""
    taken = []
    for _ in range(times):
        start = time.perf_counter()
        call()
        taken.append(time.perf_counter() - start)
    return min(taken)


def fresh(script: str) -> list[float]:
    """The numbers that a script prints in a new process."""
    command = [sys.executable, "-c", script]
    return [float(part) for part in subprocess.check_output(command, text=True).split()]


def report_size() -> None:
    from sandbox_kernel.worker.typescript import prepare, warm

    gc.disable()  # as in workers
    warm()
    for lines in (1_000, 2_000, 4_000, 8_000, 16_000):
        source = typed_lines(lines).body
        seconds = best(partial(prepare, source), 9 if lines < 5_000 else 3)
        print(
            f"{source.count(chr(10)):7,} lines  {seconds * 1e3:8.2f} ms  {seconds / lines * 1e6:6.2f} µs a line"
        )


def report_loading() -> None:
    imported, warmed = map(
        statistics.median, zip(*(fresh(_LOADING) for _ in range(5)), strict=True)
    )
    print(f"loading: import {imported * 1e3:.1f} ms, warm {warmed * 1e3:.1f} ms")


def report_first_run() -> None:
    typed = _FIRST_RUN.format(
        source="const a: number = 41; export default a + 1 as number", language="typescript"
    )
    plain = _FIRST_RUN.format(source="const a = 41; export default a + 1", language="javascript")
    rounds = [(fresh(typed)[0], fresh(plain)[0]) for _ in range(7)]
    first, second = (statistics.median(column) for column in zip(*rounds, strict=True))
    print(
        f"first run of a process: TypeScript {first * 1e3:.0f} ms, JavaScript {second * 1e3:.0f} ms ({first / second:.2f})"
    )


if __name__ == "__main__":
    report_size()
    report_loading()
    report_first_run()
