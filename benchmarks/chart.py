"""The chart: how much longer each peer takes than we do, on a logarithmic axis, as plain SVG."""

from __future__ import annotations

import math
from collections.abc import Callable
from html import escape

from .measure import Figure, Row
from .peer import OURS, PEERS

_COLORS = ("#8a8a8a", "#1b7f79", "#c9452f", "#e39a1f", "#3465a4", "#7b3fa0", "#5b8c2a", "#b5347a")
_LEFT, _RIGHT, _TOP, _STEP, _WIDTH = 270, 110, 92, 30, 1000
_CAPTION = (
    "Squares: a process per run. Circles: in Python's process. Diamonds: in Node's. "
    "Crosses: it failed or did not stop."
)
_STYLE = "font-family:system-ui,-apple-system,'Segoe UI',sans-serif"


def ratio(row: Row, figure: Figure, ours: Figure) -> float | None:
    """How many times our cost the peer's is; below 1 the peer is better."""
    if figure.middle is None or not ours.middle or figure.middle <= 0:
        return None
    return ours.middle / figure.middle if row.more_is_better else figure.middle / ours.middle


def draw(rows: list[Row], table: dict[str, dict[str, Figure]]) -> str:
    """The SVG: one line for each row, one mark for each peer."""
    others = [peer for peer in PEERS if peer != OURS]
    colors = dict(zip((peer.name for peer in others), _COLORS, strict=True))
    marks = {
        row.key: {
            peer.name: found
            for peer in others
            if peer.name in table[row.key]
            and (found := ratio(row, table[row.key][peer.name], table[row.key][OURS.name]))
        }
        for row in rows
    }
    every = [value for found in marks.values() for value in found.values()] or [1.0]
    low, high = math.floor(math.log10(min(every))), math.ceil(math.log10(max(every)))
    low, high = min(low, -1), max(high, 1)
    height = _TOP + _STEP * len(rows) + 60

    def across(value: float) -> float:
        share = (math.log10(value) - low) / (high - low)
        return _LEFT + share * (_WIDTH - _LEFT - _RIGHT)

    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {height}" '
        f'width="{_WIDTH}" height="{height}" style="{_STYLE}">',
        f'<rect width="{_WIDTH}" height="{height}" fill="#ffffff"/>',
        _text(20, 28, "Cost of each peer as a multiple of sandbox-kernel's", 17, weight=600),
        *_legend(colors),
        *_axis(low, high, across, height),
    ]
    for at, row in enumerate(rows):
        y = _TOP + _STEP * at + _STEP / 2
        parts.append(f'<line x1="{_LEFT}" x2="{_WIDTH - _RIGHT}" y1="{y}" y2="{y}" stroke="#eee"/>')
        parts.append(_text(_LEFT - 14, y + 4, row.title, 12.5, anchor="end"))
        parts += [
            _mark(across(value), y, name, colors[name], value)
            for name, value in sorted(marks[row.key].items(), key=lambda item: -item[1])
        ]
        failed = [name for name in colors if table[row.key].get(name, Figure()).problem]
        parts += [_cross(at, y, name, colors[name]) for at, name in enumerate(failed)]
    parts.append(_text(_LEFT, height - 4, _CAPTION, 11.5, fill="#555"))
    return "\n".join([*parts, "</svg>", ""])


def _text(
    x: float, y: float, text: str, size: float, *, anchor: str = "start", fill: str = "#222",
    weight: int = 400,
) -> str:  # fmt: skip
    return (
        f'<text x="{x:.1f}" y="{y:.1f}" font-size="{size}" text-anchor="{anchor}" '
        f'fill="{fill}" font-weight="{weight}">{escape(text)}</text>'
    )


def _legend(colors: dict[str, str]) -> list[str]:
    parts, x = [], 26.0
    for name, color in colors.items():
        parts.append(_shape(x, 52, name, color))
        parts.append(_text(x + 11, 56, name, 12.5))
        x += 36 + 7.2 * len(name)
    return parts


def _axis(low: int, high: int, across: Callable[[float], float], height: int) -> list[str]:
    bottom = height - 54
    begin, one = across(10**low), across(1)
    parts = [
        f'<rect x="{begin:.1f}" y="{_TOP - 8}" width="{one - begin:.1f}" '
        f'height="{bottom - _TOP + 8}" fill="#fdf3e3"/>',
        _text(one - 8, _TOP - 14, "peer ahead", 11.5, anchor="end", fill="#9a6a12"),
        _text(one + 8, _TOP - 14, "sandbox-kernel ahead", 11.5, fill="#1b7f79"),
    ]
    for power in range(low, high + 1):
        x, is_one = across(10**power), power == 0
        color = "#222" if is_one else "#d8d8d8"
        parts.append(
            f'<line x1="{x:.1f}" x2="{x:.1f}" y1="{_TOP - 8}" y2="{bottom}" stroke="{color}"/>'
        )
        label = f"{10**power:,}×" if power >= 0 else f"1/{10**-power:,}"
        parts.append(_text(x, bottom + 18, label, 11.5, anchor="middle", fill="#555"))
    return parts


def _mark(x: float, y: float, name: str, color: str, value: float) -> str:
    title = f"<title>{escape(name)}: {value:.2g}×</title>"
    return f"<g>{title}{_shape(x, y, name, color)}</g>"


def _cross(at: int, y: float, name: str, color: str) -> str:
    x = _WIDTH - _RIGHT + 22 + 15 * at
    lines = f"M{x - 4} {y - 4}l8 8M{x + 4} {y - 4}l-8 8"
    title = f"<desc>{escape(name)}: no figure</desc>"
    return f'<g>{title}<path d="{lines}" stroke="{color}" stroke-width="2.4"/></g>'


def _shape(x: float, y: float, name: str, color: str) -> str:
    """A circle for Python's process, a diamond for Node's, a square for a process per run."""
    peer = next(peer for peer in PEERS if peer.name == name)
    look = f'fill="{color}" fill-opacity="0.9" stroke="#fff" stroke-width="1"'
    if peer.kind == "npm":
        points = f"{x:.1f},{y - 7:.1f} {x + 7:.1f},{y:.1f} {x:.1f},{y + 7:.1f} {x - 7:.1f},{y:.1f}"
        return f'<polygon points="{points}" {look}/>'
    if peer.has_process_per_run:
        return f'<rect x="{x - 5.5:.1f}" y="{y - 5.5:.1f}" width="11" height="11" {look}/>'
    return f'<circle cx="{x:.1f}" cy="{y:.1f}" r="6" {look}/>'
