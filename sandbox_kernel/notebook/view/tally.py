"""What a view knows of a run so far: exact counts, progress, the plot, the newest reports and logs.

Fed with everything, it keeps little: however many reports a guest sends, what this holds and what
it hands to a page stay bounded. It does no I/O and knows no widget.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from itertools import islice
from typing import Any

from ...budget import Budget
from ...clean import clean_line
from ...contract import CodeExecutionLog
from ...values import BigInt, Undefined
from ..show.numbers import spell_number
from ..show.outline import outline
from ..show.output import console_line

NEWEST = 200  # reports, and logs, that a page can show
NEWEST_CHARACTERS = 60_000  # and how much text they may have together
_WORK = 1_000  # what it may take to draw them
LOG_TEXT = 4_000
LOG_WORK = 1_000
BARS = 12
LABEL = 80  # characters of a bar's
BUCKETS = 200
Draw = Callable[[Any, Budget], list[Any]]
_PROGRESS_KEYS = frozenset({"progress", "total", "label"})


class Tally:
    """Takes a run's reports and logs as they grow; draws them for a page."""

    def __init__(self) -> None:
        self.reports = Newest(outline)
        self.logs = Newest(log_line)
        self.bars: dict[str, tuple[float, float | None]] = {}
        self.plot = Series()

    def take(self, reports: Sequence[Any], logs: Sequence[CodeExecutionLog]) -> bool:
        """Count what came since the last time; whether there was anything."""
        seen = self.reports.count
        fresh = reports[seen:]
        spoken = logs[self.logs.count :]
        listed = [each for each in enumerate(fresh, seen) if not self._is_drawn_as_bar(each[1])]
        self.reports.extend(listed, len(fresh))
        self.logs.extend(list(enumerate(spoken, self.logs.count)), len(spoken))
        return bool(fresh or spoken)

    def _is_drawn_as_bar(self, report: Any) -> bool:
        """Whether it moved a bar, which then shows all of it; a number goes on the plot besides."""
        if is_number(report):
            self.plot.add(report)
        if not isinstance(report, dict) or "progress" not in report or not is_progress(report):
            return False
        self._advance_bar(report)
        return True

    def _advance_bar(self, report: Mapping[str, Any]) -> None:
        name = _label(report.get("label"))
        self.bars.pop(name, None)  # the newest bars stay when there are too many
        self.bars[name] = (report["progress"], report.get("total") or None)
        if len(self.bars) > BARS:
            del self.bars[next(iter(self.bars))]

    def progress(self) -> list[list[Any]]:
        """Bars by label: `[label, fraction or None, text]`, in the order of their labels."""
        return [[name, *_bar(*self.bars[name])] for name in sorted(self.bars)]


class Newest:
    """The newest few of a growing sequence, drawn, each with its number in it.

    `count` is how many there were in all, `listed` without those that are shown in another way.
    """

    def __init__(self, draw: Draw) -> None:
        self.count = 0
        self.listed = 0
        self._draw = draw
        self._kept: deque[_Kept] = deque(maxlen=NEWEST)

    def extend(self, values: Sequence[tuple[int, Any]], count: int) -> None:
        """Those to list, with their numbers; `count` of them are new in all."""
        self.count += count
        self.listed += len(values)
        self._kept.extend(_Kept(*value) for value in values[-NEWEST:])

    def since(self, index: int, most: int = NEWEST) -> dict[str, Any]:
        """`{until, items}`: `[number, drawn]` from `index` on, but only the newest that fit."""
        room, budget = NEWEST_CHARACTERS, Budget(work=_WORK)
        items: list[Any] = []
        for kept in islice(reversed(self._kept), most):
            if kept.number < index or budget.spent:
                break
            drawn, size = kept.drawn_by(self._draw, budget)
            room -= size
            if items and room < 0:
                break
            items.append([kept.number, drawn])
        return {"until": self.count, "items": items[::-1]}


class _Kept:
    """One value, drawn when it is first shown: in a flood most never are."""

    __slots__ = ("_drawn", "_value", "number")

    def __init__(self, number: int, value: Any) -> None:
        self.number = number
        self._value = value
        self._drawn: tuple[list[Any], int] | None = None

    def drawn_by(self, draw: Draw, budget: Budget) -> tuple[list[Any], int]:
        if self._drawn is None:
            drawn = draw(self._value, budget)
            self._drawn = (drawn, weight(drawn))
            self._value = None
        return self._drawn


class Series:
    """A line of any length in a few buckets, each keeping its extremes: no spike is lost."""

    def __init__(self) -> None:
        self.count = 0
        self.last: float | None = None
        self._width = 1
        self._buckets: list[list[tuple[int, float]]] = []

    def add(self, value: float) -> None:
        point = (self.count, float(value))
        self.count += 1
        self.last = point[1]
        if self._buckets and point[0] // self._width == self._buckets[-1][0][0] // self._width:
            self._buckets[-1] = _extremes([*self._buckets[-1], point])
            return
        self._buckets.append([point])
        if len(self._buckets) > BUCKETS:
            self._width *= 2
            self._buckets = _halved(self._buckets)

    def points(self) -> list[tuple[int, float]]:
        return [point for bucket in self._buckets for point in bucket]

    def drawn(self) -> dict[str, Any]:
        """The line for a page: points, how many numbers they stand for, texts for its axis."""
        points = self.points()
        if not points:
            return {}
        values = [value for _, value in points]
        texts = [_short(value) for value in (min(values), max(values), self.last or 0.0)]
        return {"points": points, "count": self.count, "texts": texts}


def _short(value: float) -> str:
    return spell_number(float(f"{value:.5g}"))


def _extremes(points: list[tuple[int, float]]) -> list[tuple[int, float]]:
    lowest = min(points, key=lambda point: point[1])
    highest = max(points, key=lambda point: point[1])
    return sorted({lowest, highest})


def _halved(buckets: list[list[tuple[int, float]]]) -> list[list[tuple[int, float]]]:
    pairs = zip(buckets[::2], [*buckets[1::2], []], strict=False)
    return [_extremes(left + right) for left, right in pairs]


def is_number(value: Any) -> bool:
    """Whether it can be a point of the plot."""
    if isinstance(value, bool | BigInt) or not isinstance(value, int | float):
        return False
    return abs(value) <= 2**53 if isinstance(value, int) else math.isfinite(value)


def is_progress(report: Mapping[str, Any]) -> bool:
    """Whether it is `{progress, total?, label?}` and nothing else."""
    if not is_number(report["progress"]) or not report.keys() <= _PROGRESS_KEYS:
        return False
    total, label = report.get("total") or None, report.get("label")
    fair_total = total is None or (is_number(total) and total > 0)
    return fair_total and isinstance(label, str | int | float | None | Undefined)


def _label(label: str | float | Undefined | None) -> str:
    if isinstance(label, str):
        return clean_line(label[:LABEL])
    return spell_number(label, LABEL) if isinstance(label, int | float) and label else ""


def _bar(progress: float, total: float | None) -> tuple[float | None, str]:
    """Its length and its text; without a total, progress is a share of 1 or just a count."""
    if total is None and not 0 <= progress <= 1:
        return None, spell_number(progress)
    share = min(max(progress / (total or 1), 0.0), 1.0)
    percent = f"{math.floor(share * 100)} %"
    if total is None:
        return share, percent
    return share, f"{percent} ({spell_number(progress)} of {spell_number(total)})"


def log_line(log: CodeExecutionLog, budget: Budget) -> list[Any]:
    """`[level, text]`, the text as it is on stdout or stderr."""
    return [log.level, console_line(log, budget.part(LOG_TEXT, LOG_WORK)).rstrip("\n")]


def weight(drawn: Any) -> int:
    """About how many characters it takes on its way to the page."""
    if isinstance(drawn, str):
        return len(drawn) + 4
    if isinstance(drawn, dict):
        return 2 + sum(weight(key) + weight(item) for key, item in drawn.items())
    if isinstance(drawn, list | tuple):
        return 2 + sum(weight(item) for item in drawn)
    return len(repr(drawn)) + 2
