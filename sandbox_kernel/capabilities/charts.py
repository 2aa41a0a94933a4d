"""Charts: what a guest asks for, checked, sorted into series and thinned out. `drawing.py` draws it."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from itertools import islice
from typing import Any, Literal, NamedTuple, get_args

from ..loans import Display
from ..spelling import suggestion
from ..values import MAX_SAFE_INTEGER
from .fields import Row, given_options, given_text, is_number, rows_of, text_of

Mark = Literal["line", "bar", "area", "point", "histogram"]
Axis = Literal["number", "time", "category"]
MARKS: tuple[Mark, ...] = get_args(Mark)
MOST_POINTS = 5_000  # drawn in one chart
MOST_BARS = 200
MOST_SERIES = 10
_MOST_TEXTS = 10_000  # of different categories, that are spelled
_OPTIONS = ("mark", "data", "x", "y", "color", "title", "log")
_OTHERS = "others"

Point = tuple[float, float]


class Chart(NamedTuple):
    """All that is drawn. Places on a category axis are numbers, from 0."""

    mark: Mark
    series: dict[str, list[Point]]
    x_axis: Axis
    names: list[str]  # of categories
    x_label: str
    y_label: str
    title: str
    note: str
    log: bool


def chart_display(given: Any = None) -> Display:
    from .drawing import drawn

    chart = chart_of(given)
    count = sum(map(len, chart.series.values()))
    drawn_points = chart.note or ("1 point" if count == 1 else f"{count:,} points")
    plain = f"{chart.title or chart.y_label} ({chart.mark} chart, {drawn_points})"
    return {"image/svg+xml": drawn(chart), "text/plain": plain}


def chart_of(given: Any) -> Chart:
    if not isinstance(given, Mapping):
        raise TypeError(
            "chart takes an object such as {mark: 'line', data: rows, x: 'day', y: 'total'}"
        )
    options = given_options(given, "chart", _OPTIONS)
    mark = options.get("mark", "line")
    if mark not in MARKS:
        instead = suggestion(text_of(mark, 40), MARKS, quote="'")
        raise TypeError(f"mark of chart is {text_of(mark, 40)!r}, which is none; {instead}")
    rows = rows_of(options.get("data"), "chart")
    if not rows:
        raise ValueError("the data of chart is empty")
    title, log = given_text(options, "title", "chart"), options.get("log") is True
    if mark == "histogram":
        return _histogram(rows, options, title, log)
    x, y, color = (
        _field(rows, options, "x"),
        _field(rows, options, "y"),
        _field(rows, options, "color"),
    )
    if y is None:
        y = _only_numbers(rows, x)
    axis, names, places = _x_axis(rows, x, mark)
    series = _series(rows, y, color, places, log)
    total = sum(map(len, series.values()))
    if not total:
        raise ValueError(
            f"the field '{text_of(y)}' has no {'positive ' if log else ''}numbers to draw"
        )
    return _thinned(
        Chart(mark, series, axis, names, text_of(x or "", 60), text_of(y, 60), title, "", log),
        total,
    )


def _field(rows: Sequence[Row], options: Mapping[str, Any], name: str) -> str | None:
    field = given_text(options, name, "chart")
    if not field:
        return None
    field = str(options[name])
    if not any(field in row for row in rows[:1000]):
        known = ", ".join(text_of(each, 40) for each in islice(rows[0], 20))
        raise ValueError(
            f"{name} of chart names the field '{text_of(field, 60)}', which no row has: {known}"
        )
    return field


def _only_numbers(rows: Sequence[Row], x: str | None) -> str:
    for name, value in rows[0].items():
        if name != x and isinstance(name, str) and is_number(value):
            return name
    raise ValueError("chart needs y, the name of a field with numbers")


def _x_axis(
    rows: Sequence[Row], x: str | None, mark: str
) -> tuple[Axis, list[str], list[float | None]]:
    """What kind of axis the values make, the names of its categories, and the place of each row."""
    if x is None:
        return "number", [], [float(at) for at in range(len(rows))]
    values = [row.get(x) for row in rows]
    if mark != "bar" and all(value is None or is_number(value) for value in values):
        return "number", [], [_number(value) for value in values]
    if mark != "bar" and all(value is None or isinstance(value, datetime) for value in values):
        return "time", [], [None if value is None else value.timestamp() for value in values]
    if mark != "bar" and (moments := _moments(values)):
        return "time", [], moments
    names: dict[str, int] = {}
    texts = _Texts()
    places = [float(names.setdefault(texts.of(value), len(names))) for value in values]
    return "category", list(names), list(places)


class _Texts:
    """The texts of a field. What is met again is not spelled again, and only so much is spelled."""

    def __init__(self) -> None:
        self._spelled: dict[object, str] = {}

    def of(self, value: Any) -> str:
        if type(value) is int and abs(value) <= MAX_SAFE_INTEGER:
            return str(value)
        key: object = value if isinstance(value, str) else id(value)
        text = self._spelled.get(key)
        if text is None:
            count = len(self._spelled)
            text = text_of(value) if count < _MOST_TEXTS else f"… {count}"
            self._spelled[key] = text
        return text


def _moments(values: list[Any]) -> list[float | None] | None:
    """Of texts that are all dates, such as 2026-11-18."""
    found: list[float | None] = []
    for value in values:
        if value is None:
            found.append(None)
            continue
        if not isinstance(value, str) or not (8 <= len(value) <= 32) or not value[:4].isdigit():
            return None
        try:
            moment = datetime.fromisoformat(value)
        except ValueError:
            return None
        found.append((moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp())
    return found


def _number(value: Any) -> float | None:
    if not is_number(value):
        return None
    try:
        number = float(value)
    except OverflowError:
        return None
    return number if math.isfinite(number) and abs(number) < 1e300 else None


def _series(
    rows: Sequence[Row], y: str, color: str | None, places: list[float | None], log: bool
) -> dict[str, list[Point]]:
    series: dict[str, list[Point]] = {}
    texts = _Texts()
    for row, place in zip(rows, places, strict=True):
        value = _number(row.get(y))
        if value is None or place is None or (log and value <= 0):
            continue
        name = "" if color is None else texts.of(row.get(color))
        if name not in series and len(series) >= MOST_SERIES:
            name = _OTHERS
        series.setdefault(name, []).append((place, value))
    return series


def _histogram(rows: Sequence[Row], options: Mapping[str, Any], title: str, log: bool) -> Chart:
    x = _field(rows, options, "x") or _field(rows, options, "y") or _only_numbers(rows, None)
    values = [value for row in rows if (value := _number(row.get(x))) is not None]
    if not values:
        raise ValueError(f"the field '{text_of(x)}' has no numbers to count")
    low, high = min(values), max(values)
    count = max(1, min(60, round(2 * len(values) ** (1 / 3)))) if high > low else 1
    width = (high - low) / count or 1.0
    bins = [0] * count
    for value in values:
        bins[min(int((value - low) / width), count - 1)] += 1
    points = [(low + at * width, float(each)) for at, each in enumerate(bins)]
    points.append((low + count * width, 0.0))  # where the last one ends
    note = "1 value" if len(values) == 1 else f"{len(values):,} values"
    return Chart("histogram", {"": points}, "number", [], text_of(x, 60), "count", title, note, log)


def _thinned(chart: Chart, total: int) -> Chart:
    if chart.mark == "bar":
        return _fewer_bars(chart)
    if chart.mark in ("line", "area") and chart.x_axis != "category":
        chart = chart._replace(series={name: sorted(each) for name, each in chart.series.items()})
    if total <= MOST_POINTS:
        return chart
    share = MOST_POINTS / total
    series = {
        name: _extremes(points, max(2, int(len(points) * share)))
        if chart.mark in ("line", "area")
        else _evenly(points, max(1, int(len(points) * share)))
        for name, points in chart.series.items()
    }
    drawn = sum(map(len, series.values()))
    return chart._replace(series=series, note=f"{drawn:,} of {total:,} points")


def _fewer_bars(chart: Chart) -> Chart:
    if len(chart.names) <= MOST_BARS and chart.x_axis == "category":
        return chart
    if chart.x_axis != "category":  # without x, rows are counted
        names = [str(at + 1) for at in range(max(map(len, chart.series.values())))]
        chart = chart._replace(x_axis="category", names=names)
    if len(chart.names) <= MOST_BARS:
        return chart
    series = {
        name: [each for each in points if each[0] < MOST_BARS]
        for name, points in chart.series.items()
    }
    note = f"{MOST_BARS} of {len(chart.names):,} bars"
    return chart._replace(series=series, names=chart.names[:MOST_BARS], note=note)


def _extremes(points: list[Point], most: int) -> list[Point]:
    """The lowest and the highest of each stretch, in order: no spike gets lost."""
    size = max(1, math.ceil(len(points) / max(1, most // 2)))
    kept: list[Point] = []
    for at in range(0, len(points), size):
        stretch = points[at : at + size]
        low, high = min(stretch, key=_height), max(stretch, key=_height)
        kept += [low] if low is high else sorted((low, high))
    return kept


def _height(point: Point) -> float:
    return point[1]


def _evenly(points: list[Point], most: int) -> list[Point]:
    return [points[at * len(points) // most] for at in range(most)]
