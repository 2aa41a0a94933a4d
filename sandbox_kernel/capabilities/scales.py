"""Axes: where a value lies, and which few values are written beside it."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from typing import NamedTuple

from .fields import shortened

Tick = tuple[float, str]


class Scale(NamedTuple):
    """`at` gives the place of a value from 0 to 1."""

    at: Callable[[float], float]
    ticks: list[Tick]


def linear(
    low: float, high: float, count: int = 6, *, nice: bool = True, least_step: float = 0
) -> Scale:
    low, high = _apart(low, high)
    step = max(_step((high - low) / count), least_step)
    if nice:
        low, high = math.floor(low / step) * step, math.ceil(high / step) * step
    first = math.ceil(low / step - 1e-9)
    values = [(first + each) * step for each in range(int((high - low) / step + 1e-9) + 2)]
    ticks = [(value, tick_text(value, step)) for value in values if value <= high + step * 1e-9]
    return Scale(lambda value: (value - low) / (high - low), ticks)


def logarithmic(low: float, high: float) -> Scale:
    """Of positive values; ticks at powers of ten, and between them if there are few."""
    first, last = math.floor(math.log10(low)), math.ceil(math.log10(high))
    last = max(last, first + 1)
    every = max(1, math.ceil((last - first) / 8))
    factors = (1, 2, 5) if last - first <= 2 else (1,)
    values = [factor * 10.0**power for power in range(first, last + 1, every) for factor in factors]
    ticks = [(value, tick_text(value, value)) for value in values if value <= 10.0**last]
    span = last - first
    return Scale(lambda value: (math.log10(value) - first) / span, ticks)


_DAY = 86_400
_TIMES = [
    *((each, "%H:%M:%S") for each in (1, 2, 5, 10, 15, 30)),
    *((each * 60, "%H:%M") for each in (1, 2, 5, 10, 15, 30)),
    *((each * 3600, "%d %b %H:%M") for each in (1, 2, 3, 6, 12)),
    *((each * _DAY, "%d %b %Y") for each in (1, 2, 7, 14)),
]


def temporal(low: float, high: float, count: int = 5) -> Scale:
    """Of seconds since 1970, in UTC."""
    low, high = _apart(low, high)
    span = high - low
    if span < 2:
        return Scale(lambda value: (value - low) / span, [(low, _time(low, "%H:%M:%S"))])
    if span / count > 20 * _DAY:
        ticks = _calendar(low, high, count)
    else:
        step, form = next((each for each in _TIMES if span / each[0] <= count + 1), _TIMES[-1])
        first = math.ceil(low / step)
        ticks = [
            (each * step, _time(each * step, form)) for each in range(first, int(high // step) + 1)
        ]
    return Scale(lambda value: (value - low) / span, ticks)


def _calendar(low: float, high: float, count: int) -> list[Tick]:
    """First days of months or years."""
    months = (high - low) / (30.4 * _DAY)
    step = next((each for each in (1, 2, 3, 6, 12) if months / each <= count + 1), 0)
    step = step or 12 * int(_step(months / 12 / count) + 0.999)
    begin = datetime.fromtimestamp(low, UTC)
    number = (begin.year * 12 + begin.month - 1) // step * step
    ticks: list[Tick] = []
    for _ in range(100):
        if not 12 <= number < 9999 * 12:
            break
        moment = datetime(number // 12, number % 12 + 1, 1, tzinfo=UTC)
        if moment.timestamp() > high:
            break
        if moment.timestamp() >= low:
            ticks.append(
                (moment.timestamp(), f"{moment:%Y}" if step % 12 == 0 else f"{moment:%b %Y}")
            )
        number += step
    return ticks


def _time(seconds: float, form: str) -> str:
    return datetime.fromtimestamp(seconds, UTC).strftime(form)


def categories(names: Sequence[str]) -> Scale:
    """Each in the middle of a band of its own."""
    count = max(len(names), 1)
    every = max(1, math.ceil(count / 24))
    ticks = [(float(at), shortened(name, 18)) for at, name in enumerate(names) if at % every == 0]
    return Scale(lambda value: (value + 0.5) / count, ticks)


def tick_text(value: float, step: float) -> str:
    """As many digits as the step needs, and a letter for millions and more."""
    if abs(value) < step * 1e-6:
        return "0"
    size = abs(value)
    for limit, letter in ((1e12, "T"), (1e9, "G"), (1e6, "M")):
        if limit <= size < 1e15:
            text = _with_digits_of(value / limit, step / limit)
            return f"{text.rstrip('0').rstrip('.') if '.' in text else text}{letter}"
    if size >= 1e15 or size < 1e-4:
        significant = math.floor(math.log10(size)) - math.floor(math.log10(step)) + 1
        return f"{value:.{max(3, min(significant, 17))}g}"
    return _with_digits_of(value, step)


def _with_digits_of(value: float, step: float) -> str:
    return f"{value:,.{max(0, min(-math.floor(math.log10(step) + 1e-9), 15))}f}"


def _apart(low: float, high: float) -> tuple[float, float]:
    if low == high:
        room = abs(low) * 0.5 or 1.0
        return low - room, high + room
    return low, high


def _step(rough: float) -> float:
    """The next of 1, 2, 5, 10 and their like."""
    power = 10.0 ** math.floor(math.log10(rough))
    return next(factor * power for factor in (1, 2, 5, 10, 20) if factor * power >= rough * 0.999)
