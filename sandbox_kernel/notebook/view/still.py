"""A run's view as an output that needs no page: for exports, prints, `git diff`, and readers
without widgets.

It stands below the live view, which hides it where it is drawn. Host-made: text is escaped, and
the plot is numbers.
"""

from __future__ import annotations

from typing import Any

from ...budget import Budget
from ...clean import clean_line, trimmed
from ...contract import CodeExecutionError, CodeExecutionResult
from ..show.markup import Markup, element, text
from ..show.output import show
from ..show.result import NO_MATH, html_table
from ..show.table import are_records, grid
from .tally import Series, Tally, is_progress

LISTED = 50  # reports in the text
LISTED_TEXT = 500  # and characters of each
LISTED_WORK = 250  # and what it may take to spell it
_WORK = 1_000  # and to spell all of them
SHOWN = 10  # reports in the page
SHOWN_TEXT = 200
ERROR_TEXT = 500
_TABLE = 20_000  # characters, markup included
_WORDS = {
    "success": "Finished",
    "error": "Failed",
    "link_error": "Could not link",
    "memory": "Out of memory",
    "terminated": "Terminated",
}
_FAINT = "opacity:.7"
_CODE = "font:12px/1.5 var(--jp-code-font-family,monospace);white-space:pre-wrap"
_TRACK = "display:inline-block;width:160px;height:8px;border-radius:4px;background:#cfd8dc"
_BAR = "display:block;height:8px;border-radius:4px;background:#1976d2"


def still_bundle(key: str, result: CodeExecutionResult, tally: Tally) -> dict[str, Any]:
    """How a run ended, as text and as HTML; `key` is the live view's."""
    return {"text/plain": plain_text(result), "text/html": _page(key, result, tally)}


def unfinished_bundle(key: str) -> dict[str, Any]:
    """What a notebook keeps that is saved during the run."""
    said = "Run: still running when this was saved"
    return {"text/plain": said, "text/html": _framed(key, element("div", text(said)))}


def _framed(key: str, *parts: Markup) -> Markup:
    return element("div", *parts, class_=f"sandbox-run-still sandbox-run-still-{key} {NO_MATH}")


def _page(key: str, result: CodeExecutionResult, tally: Tally) -> Markup:
    word = element("span", text(_WORDS[result.status]), style="font-weight:600")
    parts = [element("div", word, text(f" after {_facts(result, tally)}"))]
    parts += [_bar(*bar) for bar in tally.progress()]
    if tally.plot.count > 1:
        parts.append(_plot(tally.plot))
    listed = [each for each in enumerate(result.reports) if not _is_bar(each[1])][-SHOWN:]
    if listed:
        parts.append(_reports(listed, tally.reports.listed - len(listed)))
    return _framed(key, *parts)


def _facts(result: CodeExecutionResult, tally: Tally) -> str:
    facts = [f"{result.duration_ms / 1000:.1f} s"]
    if result.memory_used_bytes is not None:
        facts.append(f"{result.memory_used_bytes / 2**20:.1f} MiB peak")
    facts.append(_count(tally.reports.count, "report"))
    if tally.logs.count:
        facts.append(_count(tally.logs.count, "log"))
    return ", ".join(facts)


def _bar(label: str, share: float | None, amount: str) -> Markup:
    filled = element("span", style=f"{_BAR};width:{round((share or 0) * 100)}%")
    track = [element("span", filled, style=_TRACK)] if share is not None else []
    return element("div", text(f"{label or 'Progress'} "), *track, text(f" {amount}"))


def _plot(series: Series) -> Markup:
    drawn = series.drawn()
    low, high, last = drawn["texts"]
    path = element("path", d=_path(drawn["points"]), fill="none", stroke="#1976d2",
                   stroke_width="1.5")  # fmt: skip
    picture = element("svg", path, viewBox="0 -3 600 106", width="600", height="106",
                      style="display:block;max-width:100%")  # fmt: skip
    said = f"{_count(series.count, 'number')} from {low} to {high}, last {last}"
    return element("div", picture, element("div", text(said), style=_FAINT))


def _path(points: list[tuple[int, float]]) -> str:
    """Values are halved first, because their whole range may exceed any number."""
    values = [value / 2 for _, value in points]
    lowest, span = min(values), max(values) - min(values)
    end = points[-1][0] or 1
    places = (
        (at / end * 600, 100 * (1 - (value - lowest) / span) if span else 50)
        for (at, _), value in zip(points, values, strict=True)
    )
    return "M" + "L".join(f"{x:.0f} {y:.1f}" for x, y in places)


def _reports(listed: list[tuple[int, Any]], earlier: int) -> Markup:
    parts: list[Markup] = []
    if earlier > 0:
        parts.append(element("div", text(f"… {_count(earlier, 'earlier report')}"), style=_FAINT))
    values = [value for _, value in listed]
    cells = grid(values, show, budget=Budget(_TABLE), bare=True) if are_records(values) else None
    if cells is not None:
        for line, (number, _) in zip(cells.lines, listed, strict=False):
            line[0] = str(number)
        return element("div", *parts, html_table(cells), style="overflow:auto;max-width:100%")
    budget = Budget(SHOWN * 4 * SHOWN_TEXT, _WORK)
    for number, value in listed:
        parts.append(element("div", text(f"[{number}] {_short(value, budget, SHOWN_TEXT)}")))
    return element("div", *parts, style=_CODE)


def plain_text(result: CodeExecutionResult) -> str:
    """How the run went, and its newest reports, a line for each."""
    lines = [
        f"Run: {result.status} after {result.duration_ms / 1000:.1f} s, "
        f"{_count(len(result.reports), 'report')}"
    ]
    first = max(0, len(result.reports) - LISTED)
    if first:
        lines.append(f"… {_count(first, 'earlier report')}")
    budget = Budget(LISTED * 2 * LISTED_TEXT, _WORK)
    for at, report in enumerate(result.reports[first:], first):
        lines.append(f"[{at}] {_short(report, budget, LISTED_TEXT)}")
    return "\n".join(lines)


def error_line(error: CodeExecutionError) -> str:
    """`TypeError: message`, on one line, cut."""
    name, message = error.name[:ERROR_TEXT], error.message[:ERROR_TEXT]
    return clean_line((f"{name}: {message}" if message else name)[:ERROR_TEXT])


def _is_bar(report: Any) -> bool:
    return isinstance(report, dict) and "progress" in report and is_progress(report)


def _count(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def _short(report: Any, budget: Budget, most: int) -> str:
    """Laid out as if it were shown in full, as far as the budget has room for that."""
    report = report[:most] if isinstance(report, str) else report
    spelled = show(report, budget=budget.part(4 * most, LISTED_WORK))
    return spelled if len(spelled) <= most else f"{trimmed(spelled[:most])}…"
