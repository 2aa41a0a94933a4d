"""Measures every engine in turns, round by round, so that noise affects all alike."""

from __future__ import annotations

import statistics
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from . import work
from .peer import OURS, Driver, Failed, Missing
from .work import Program


@dataclass(frozen=True)
class Row:
    """One row of the table. `unit` is how seconds are shown; kind `cold` starts a process each time."""

    key: str
    title: str
    kind: str
    program: Program
    count: float
    rounds: int = 3
    unit: str = "ms"
    tail: bool = False  # show the p99 next to the median
    seconds: float = 12  # timeout
    more_is_better: bool = False


ROWS = (
    Row("fresh", "fresh trivial run", "timed", work.TRIVIAL, 70, tail=True),
    Row("rested", "the same, 50 ms apart", "rested", work.TRIVIAL, 40, tail=True),
    Row("fresh-ts", "fresh trivial run of TypeScript", "timed", work.TYPED, 70, tail=True),
    Row("cold", "cold start: import to first result", "cold", work.TRIVIAL, 1, 5),
    Row("cold-ts", "cold start with TypeScript", "cold", work.TYPED, 1, 5),
    Row("compute", "compute (recursion, sieve, dictionary)", "timed", work.COMPUTE, 3, 5),
    Row("sync", "synchronous bridge call", "sync_calls", work.sync_calls(2000), 1, 5, unit="µs"),
    Row("async", "1,000 async bridge calls at once", "async_calls", work.async_calls(1000), 3, 5),
    Row("objects", "10,000 small objects out (plain)", "timed", work.objects(10_000), 3, 5),
    Row("rich", "10,000 small objects out (Date, Set)", "timed", work.rich_objects(10_000), 3, 5),
    Row("floats", "a million float64 out (8 MB)", "timed", work.FLOATS, 3, 5),
    Row("kept", "a million float64 made, one number out", "timed", work.FLOATS_KEPT, 3, 5),
    Row("reports", "20,000 reports", "reports", work.reports(20_000), 1, 3),
    Row("loop", "terminate an endless loop", "terminate", work.LOOP, 10, tail=True, seconds=8),
    Row("regex", "terminate a regex", "terminate", work.REGEX, 10, tail=True, seconds=8),
    Row("builtin", "terminate a builtin", "terminate", work.BUILTIN, 10, tail=True, seconds=8),
    Row("sustained", "runs per second on all cores", "sustained", work.TRIVIAL, 3, 2,
        unit="/s", more_is_better=True),
    Row("memory", "memory of one waiting sandbox", "hold", work.TRIVIAL, 12, 1, unit="MB"),
)  # fmt: skip


@dataclass(frozen=True)
class Figure:
    """One peer's result in one row: numbers, or the `problem` that prevented them."""

    middle: float | None = None
    tail: float | None = None
    problem: str | None = None


def measure(
    drivers: list[Driver], rows: Iterable[Row], quick: bool
) -> dict[str, dict[str, Figure]]:
    """`{row key: {peer name: Figure}}`."""
    return {row.key: _measure_row(drivers, row, quick) for row in rows}


def _measure_row(drivers: list[Driver], row: Row, quick: bool) -> dict[str, Figure]:
    samples: dict[str, list[float]] = {driver.peer.name: [] for driver in drivers}
    problems: dict[str, str] = {}
    for turn in range(1 if quick else row.rounds):
        for driver in drivers:
            name = driver.peer.name
            if name in problems:
                continue
            print(f"{row.title}, round {turn + 1}: {name}", file=sys.stderr, flush=True)
            try:
                samples[name] += _sample(driver, row, quick)
            except Missing:
                problems[name] = ""
            except Failed as problem:
                problems[name] = str(problem)
    return {name: _figure(taken, problems.get(name)) for name, taken in samples.items()}


def _sample(driver: Driver, row: Row, quick: bool) -> list[float]:
    forms = row.program.forms()
    if row.kind == "cold":
        return [driver.cold(forms)]
    count = max(1, row.count // 10) if quick and row.kind != "sustained" else row.count
    answer = driver.ask(row.kind, forms, count, row.seconds)
    if row.kind == "sustained":
        return [answer["per_second"]]
    if row.kind == "hold":
        driver.close()
        return [answer["bytes"]]
    if row.kind != "terminate":
        _check(answer.get("value"), row.program)
    return list(answer["seconds"])


def _check(value: Any, program: Program) -> None:
    if program.expect is not None and value != program.expect:
        raise Failed("it returns another value" if program.gives != "rich" else "it loses values")


def _figure(taken: list[float], problem: str | None) -> Figure:
    if problem is not None or not taken:
        return Figure(problem=problem or "")
    ordered = sorted(taken)
    tail = ordered[min(len(ordered) - 1, round(0.99 * (len(ordered) - 1)))]
    return Figure(max(statistics.median(ordered), 0.0), max(tail, 0.0))


def ours(figures: dict[str, Figure]) -> Figure:
    return figures[OURS.name]
