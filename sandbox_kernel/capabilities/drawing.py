"""Draws a chart as SVG: shapes and texts only, on white paper of its own.

JupyterLab shows an SVG as a picture, to which no style of the page applies, and no grey stands out
well enough from a white and from a black page.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from itertools import pairwise

from ..width import display_width
from . import scales
from .charts import Chart, Point
from .fields import markup_of, shortened
from .scales import Scale

_WIDTH, _HEIGHT = 640, 360
_PAPER, _GREY, _LINES = "#ffffff", "#595959", "#dddddd"
_COLOURS = (
    *("#4c82c3", "#e07b28", "#3f9e5a", "#d2495c", "#8f6bc7"),
    *("#2a9d9d", "#a8744a", "#c8599c", "#7d942b", "#7f8794"),
    "#333333",  # of the others, if there are more series
)
_FONT = "system-ui, sans-serif"
_CHARACTER = 6.3  # the width of one at 11 pixels, about


class _Frame:
    """Where the marks are drawn: the rest is for axes, title and legend."""

    def __init__(self, chart: Chart, y_labels: list[str], slanted: bool, legend: int) -> None:
        widest = max((display_width(label) for label in y_labels), default=1)
        self.left = 22 + widest * _CHARACTER + 14
        self.right = _WIDTH - 18.0
        self.top = 14.0 + (22 if chart.title else 0) + 18 * legend + 14
        self.bottom = _HEIGHT - (88.0 if slanted else 46.0)

    def x(self, share: float) -> float:
        return self.left + share * (self.right - self.left)

    def y(self, share: float) -> float:
        return self.bottom - share * (self.bottom - self.top)


def drawn(chart: Chart) -> str:
    x_scale, y_scale = _scales(chart)
    rows = _legend_rows(chart)
    slanted = chart.x_axis == "category" and _is_crowded(x_scale)
    frame = _Frame(chart, [label for _, label in y_scale.ticks], slanted, len(rows))
    body = [
        *_title(chart),
        *_legend(chart, rows),
        *_axes(chart, frame, x_scale, y_scale, slanted),
        *_marks(chart, frame, x_scale, y_scale),
    ]
    clip = f"plot-{zlib.crc32(''.join(body).encode()):08x}"
    inner = "".join(body).replace("#plot)", f"#{clip})")
    room = (
        f'<defs><clipPath id="{clip}"><rect x="{frame.left - 4:.1f}" y="{frame.top - 4:.1f}"'
        f' width="{frame.right - frame.left + 8:.1f}" height="{frame.bottom - frame.top + 8:.1f}"/></clipPath></defs>'
    )
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {_HEIGHT}" width="{_WIDTH}"'
        f' height="{_HEIGHT}" role="img" font-family="{_FONT}" font-size="11" fill="{_GREY}">'
        f"<title>{markup_of(chart.title or f'{chart.y_label} by {chart.x_label}')}</title>"
        f'<rect width="{_WIDTH}" height="{_HEIGHT}" rx="4" fill="{_PAPER}"/>{room}{inner}</svg>'
    )


def _scales(chart: Chart) -> tuple[Scale, Scale]:
    points = [point for each in chart.series.values() for point in each]
    lows, highs = min(points), max(points)
    if chart.x_axis == "category":
        x_scale = scales.categories(chart.names)
    elif chart.x_axis == "time":
        x_scale = scales.temporal(lows[0], highs[0])
    else:
        x_scale = scales.linear(lows[0], highs[0], 8, nice=chart.mark == "point")
    heights = [y for _, y in points]
    low, high = min(heights), max(heights)
    if chart.log:
        positive = [y for y in heights if y > 0]
        return x_scale, scales.logarithmic(min(positive), max(positive))
    if chart.mark in ("bar", "area", "histogram"):
        low, high = min(low, 0.0), max(high, 0.0)
    return x_scale, scales.linear(low, high, least_step=1 if chart.mark == "histogram" else 0)


def _text(x: float, y: float, text: str, anchor: str = "middle", more: str = "") -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}"{more}>{markup_of(text)}</text>'


def _line(x1: float, x2: float, y1: float, y2: float, colour: str) -> str:
    return f'<line x1="{x1:.1f}" x2="{x2:.1f}" y1="{y1:.1f}" y2="{y2:.1f}" stroke="{colour}"/>'


def _rect(x: float, y: float, width: float, height: float, colour: str) -> str:
    size = f'width="{width:.1f}" height="{height:.1f}"'
    return f'<rect x="{x:.1f}" y="{y:.1f}" {size} fill="{colour}"/>'


def _title(chart: Chart) -> Iterator[str]:
    if chart.title:
        columns = int((_WIDTH - 36 - len(chart.note) * _CHARACTER) / 9)
        title = shortened(chart.title, columns)
        yield _text(18, 24, title, "start", ' font-size="14" font-weight="600"')
    if chart.note:
        yield _text(_WIDTH - 18, 24 if chart.title else 14, chart.note, "end", ' font-size="10"')


def _legend_rows(chart: Chart) -> list[list[tuple[str, str, float]]]:
    """Names with their colours and places, in as many rows as they need."""
    names = list(chart.series)
    if names in ([], [""]):
        return []
    rows: list[list[tuple[str, str, float]]] = [[]]
    x = 18.0
    for name, colour in zip(names, _COLOURS, strict=False):
        shown = shortened(name, 24) or "(none)"
        width = 18 + display_width(shown) * _CHARACTER + 14
        if x + width > _WIDTH - 10 and rows[-1]:
            rows.append([])
            x = 18.0
        rows[-1].append((shown, colour, x))
        x += width
    return rows


def _legend(chart: Chart, rows: list[list[tuple[str, str, float]]]) -> Iterator[str]:
    top = 14 + (22 if chart.title else 0)
    for at, row in enumerate(rows):
        for name, colour, x in row:
            y = top + 18 * at
            yield f'<rect x="{x:.1f}" y="{y:.1f}" width="11" height="11" rx="2" fill="{colour}"/>'
            yield _text(x + 16, y + 9.5, name, "start")


def _is_crowded(scale: Scale) -> bool:
    needed = sum(display_width(label) * _CHARACTER + 10 for _, label in scale.ticks)
    return needed > _WIDTH - 90


def _axes(
    chart: Chart, frame: _Frame, x_scale: Scale, y_scale: Scale, slanted: bool
) -> Iterator[str]:
    for value, label in y_scale.ticks:
        y = frame.y(y_scale.at(value))
        yield _line(frame.left, frame.right, y, y, _LINES)
        yield _text(frame.left - 7, y + 3.8, label, "end")
    last = -1e9
    for value, label in x_scale.ticks:
        x = frame.x(x_scale.at(value))
        yield _line(x, x, frame.bottom, frame.bottom + 4, _GREY)
        if slanted:
            turned = f' transform="rotate(-38 {x:.1f} {frame.bottom + 13:.1f})"'
            yield _text(x, frame.bottom + 13, shortened(label, 13), "end", turned)
            continue
        half = display_width(label) * _CHARACTER / 2
        if x - half > last:
            yield _text(min(x, _WIDTH - half - 2), frame.bottom + 17, label)
            last = x + half + 6
    floor = _floor(frame, chart, y_scale) if chart.mark in ("bar", "area") else frame.bottom
    yield _line(frame.left, frame.right, floor, floor, _GREY)
    if chart.x_label:
        yield _text((frame.left + frame.right) / 2, _HEIGHT - 8, shortened(chart.x_label, 60))
    middle = (frame.top + frame.bottom) / 2
    turned = f' transform="rotate(-90 13 {middle:.1f})"'
    yield _text(13, middle, shortened(chart.y_label, 40), more=turned)


def _marks(chart: Chart, frame: _Frame, x_scale: Scale, y_scale: Scale) -> Iterator[str]:
    yield '<g clip-path="url(#plot)">'
    for at, (colour, points) in enumerate(zip(_COLOURS, chart.series.values(), strict=False)):
        placed = [(frame.x(x_scale.at(x)), frame.y(_height(chart, y_scale, y))) for x, y in points]
        if chart.mark == "histogram":
            yield from _bins(placed, frame, colour)
        elif chart.mark == "bar":
            yield from _bars(placed, frame, chart, y_scale, at, colour)
        elif chart.mark == "point":
            yield from _dots(placed, colour)
        else:
            yield from _path(placed, frame, chart, y_scale, colour)
    yield "</g>"


def _height(chart: Chart, scale: Scale, y: float) -> float:
    return 0.0 if chart.log and y <= 0 else scale.at(y)


def _floor(frame: _Frame, chart: Chart, y_scale: Scale) -> float:
    return frame.bottom if chart.log else frame.y(y_scale.at(0.0))


def _bins(placed: list[Point], frame: _Frame, colour: str) -> Iterator[str]:
    for (x, y), (end, _) in pairwise(placed):
        yield _rect(x, y, max(end - x - 1, 0.8), frame.bottom - y, colour)


def _bars(
    placed: list[Point], frame: _Frame, chart: Chart, y_scale: Scale, at: int, colour: str
) -> Iterator[str]:
    """Those of one category stand side by side."""
    band = (frame.right - frame.left) / max(len(chart.names), 1)
    width = max(min(band * 0.8, 90.0) / len(chart.series), 0.6)
    offset = (at - len(chart.series) / 2) * width
    floor = _floor(frame, chart, y_scale)
    for x, y in placed:
        top, height = min(y, floor), max(abs(floor - y), 0.5)
        yield _rect(x + offset, top, max(width - 0.5, 0.5), height, colour)


def _dots(placed: list[Point], colour: str) -> Iterator[str]:
    radius = 4 if len(placed) <= 100 else 3 if len(placed) <= 800 else 1.8
    opacity = 0.85 if len(placed) <= 800 else 0.5
    yield f'<g fill="{colour}" fill-opacity="{opacity}">'
    for x, y in placed:
        yield f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{radius}"/>'
    yield "</g>"


def _path(
    placed: list[Point], frame: _Frame, chart: Chart, y_scale: Scale, colour: str
) -> Iterator[str]:
    if len(placed) == 1:
        yield from _dots(placed, colour)
        return
    line = " ".join(f"{x:.1f},{y:.1f}" for x, y in placed)
    if chart.mark == "area":
        floor = _floor(frame, chart, y_scale)
        edge = f"{placed[0][0]:.1f},{floor:.1f} {line} {placed[-1][0]:.1f},{floor:.1f}"
        yield f'<polygon points="{edge}" fill="{colour}" fill-opacity="0.28"/>'
    width = 1.2 if len(placed) > 1000 else 2
    yield (
        f'<polyline points="{line}" fill="none" stroke="{colour}" stroke-width="{width}"'
        ' stroke-linejoin="round"/>'
    )
