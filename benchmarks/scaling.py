"""How the cost of a run grows with its input, and the exponent of that growth."""

from __future__ import annotations

import contextlib
import math
import statistics
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from . import work
from .peer import Driver, Failed, Missing
from .work import Program

_ENOUGH_SECONDS = 1.5  # a peer is not measured at larger sizes once a run took this long


@dataclass(frozen=True)
class Axis:
    """What grows. The first size is so small that it costs only the fixed cost."""

    key: str
    title: str
    kind: str
    program: Callable[[int], Program]
    sizes: Sequence[int]
    counts: bool = False  # the size is passed to the driver as its count, not to the program


AXES = (
    Axis("source", "source size (KB)", "timed", work.source_of, (0, 25, 50, 100, 200, 400)),
    Axis("value", "value size (objects out)", "timed", work.objects,
         (1, 2_000, 5_000, 10_000, 20_000, 50_000)),
    Axis("typed", "lines of TypeScript", "timed", work.typed_lines, (0, 500, 1_000, 2_000, 4_000)),
    Axis("plain", "lines of the same JavaScript", "timed", work.plain_lines,
         (0, 500, 1_000, 2_000, 4_000)),
    Axis("modules", "number of modules", "modules", lambda _: work.TRIVIAL,
         (1, 50, 100, 200, 400), counts=True),
    Axis("calls", "bridge calls", "sync_total", work.sync_calls, (1, 500, 1_000, 2_000, 5_000)),
    Axis("concurrent", "concurrent runs", "concurrent", lambda _: work.TRIVIAL,
         (1, 25, 50, 100, 200), counts=True),
)  # fmt: skip


@dataclass(frozen=True)
class Curve:
    """Seconds at each size reached, and the exponent of the cost beyond the fixed cost."""

    points: list[tuple[int, float]]
    exponent: float | None


def measure(drivers: list[Driver], quick: bool) -> dict[str, dict[str, Curve]]:
    """`{axis key: {peer name: Curve}}`, without the peers that do not support an axis."""
    return {axis.key: _measure_axis(drivers, axis, quick) for axis in AXES}


def _measure_axis(drivers: list[Driver], axis: Axis, quick: bool) -> dict[str, Curve]:
    curves = {}
    for driver in drivers:
        print(f"growth of {axis.title}: {driver.peer.name}", file=sys.stderr, flush=True)
        points: list[tuple[int, float]] = []
        with contextlib.suppress(Missing, Failed):
            _seconds(driver, axis, axis.sizes[0], 1)  # loads what is loaded on first use
        for size in axis.sizes[:3] if quick else axis.sizes:
            try:
                points.append((size, _seconds(driver, axis, size, 1 if quick else 5)))
            except (Missing, Failed):
                break
            if points[-1][1] > _ENOUGH_SECONDS:
                break
        if len(points) > 1:
            curves[driver.peer.name] = Curve(points, exponent(points))
    return curves


def _seconds(driver: Driver, axis: Axis, size: int, times: int) -> float:
    """The minimum of a few runs, because the rest is noise."""
    forms = axis.program(size).forms()
    taken: list[float] = []
    for _ in range(times):
        if axis.kind == "sync_total":
            per_call = driver.ask("sync_calls", forms, 1)["seconds"][0]
            taken.append(per_call * size)
        else:
            count = size if axis.counts else 1
            taken += driver.ask(axis.kind, forms, count)["seconds"]
        if taken[-1] > _ENOUGH_SECONDS:
            break
    return min(taken)


def exponent(points: list[tuple[int, float]]) -> float | None:
    """The slope of log cost over log size without the fixed cost; None if there is no growth."""
    fixed = points[0][1]
    grown = [(size, seconds - fixed) for size, seconds in points[1:] if seconds > 1.2 * fixed]
    if len(grown) < 2:
        return None
    across = [math.log(size) for size, _ in grown]
    up = [math.log(seconds) for _, seconds in grown]
    return statistics.linear_regression(across, up).slope
