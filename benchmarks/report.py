"""Writes docs/benchmarks.md: replaces the parts between markers; the rest is written by hand."""

from __future__ import annotations

import os
import platform
import re
import time
from pathlib import Path
from typing import Any

from . import bounds, floors
from .chart import ratio
from .install import ROOT
from .measure import Figure, Row
from .peer import OURS, PEERS, Peer
from .scaling import AXES, Curve

PAGE = ROOT / "docs" / "benchmarks.md"
SECURITY = ROOT / "SECURITY.md"
CHART = ROOT / "docs" / "benchmarks.svg"

_UNITS = {"ms": 1e3, "µs": 1e6, "MB": 1e-6, "/s": 1.0}

# Why a peer is faster in a row, if it runs in the host's process or in a process of its own.
_IN_PLACE = "values are converted in place; ours are encoded, sent, and decoded as hostile input"
_FLAG = "a flag that the engine polls; ours kills a process and waits for its end"
_JIT = "V8 compiles to machine code; QuickJS interprets bytecode"
_TWO_PYTHONS = "one native program to start; ours imports packages and starts a second Python"
_BINARY = "a small native program; ours has a Python interpreter around the engine"
_NATIVE = "values are encoded by native code; ours are walked by interpreted JavaScript first"
_IN_MEMORY = "a realm in the host's own memory needs no message to another process and back"
_WHY_IN_PROCESS = {
    "fresh": _IN_MEMORY,
    "rested": _IN_MEMORY,
    "fresh-ts": _IN_MEMORY,
    "cold": "no second process to start before the first result",
    "cold-ts": "no second process to start before the first result",
    "compute": _JIT,
    "sync": "a call within one address space; ours is a message to another process and back",
    "async": "the calls never leave the process",
    "objects": _IN_PLACE,
    "rich": _IN_PLACE,
    "floats": "one copy within one process",
    "kept": "a native loop, or a realm in the host's own memory",
    "reports": "each report is a function call; ours are messages, batched",
    "loop": _FLAG,
    "regex": _FLAG,
    "sustained": "nothing is forked, locked down or thrown away",
    "memory": "a realm is only a heap; ours is a whole process",
}
_WHY_PROCESS = {
    "fresh": _BINARY,
    "rested": _BINARY,
    "cold": _TWO_PYTHONS,
    "cold-ts": _TWO_PYTHONS,
    "compute": _JIT,
    "sync": "one Python at one end of the pipe; ours has one at both ends",
    "async": "one Python at one end of the pipe; ours has one at both ends",
    "objects": _NATIVE,
    "floats": "the same copy, with less around it",
    "kept": _JIT,
    "reports": _NATIVE,
    "loop": "it stops itself at a deadline; ours is killed and waited for",
    "sustained": _BINARY,
    "memory": _BINARY,
}
_WHY_THIS_ONE = {
    ("quickjs-ng", "compute"): "the same engine, without a heap limit or isolation",
}
_UNEXPLAINED = "not explained yet"


def write(rows: list[Row], found: dict[str, Any], page: Path = PAGE) -> None:
    """Replaces the part between each pair of markers."""
    table, curves = found["table"], found["curves"]
    parts = {
        "setting": setting(found["versions"], found["problems"], found["load"]),
        "table": main_table(rows, table),
        "behind": where_peers_win(rows, table),
        "growth": growth(curves),
        "limits": machine(found["limits"], table),
        "typescript": typescript(table, curves),
        "kernels": found["kernels"],
    }
    fill(page, parts)
    write_bounds(found, page)


def write_bounds(found: dict[str, Any], page: Path = PAGE, security: Path = SECURITY) -> None:
    """What a hostile guest costs, on both pages that say it."""
    if found.get("bounds"):
        fill(page, {"bounds": bounds.table(found["bounds"])})
        fill(security, {"promise": bounds.promise(found["bounds"])})


def fill(page: Path, parts: dict[str, str]) -> None:
    text = page.read_text(encoding="utf-8")
    for name, body in parts.items():
        text = _filled(text, name, body)
    page.write_text(text, encoding="utf-8")


def _filled(text: str, name: str, body: str) -> str:
    """The page with another body between the two comments that have the name."""
    begin, end = f"<!-- bench:{name} -->", f"<!-- /bench:{name} -->"
    pattern = re.compile(re.escape(begin) + ".*?" + re.escape(end), re.S)
    return pattern.sub(lambda _: f"{begin}\n\n{body}\n\n{end}", text)


def spell(seconds: float | None, unit: str) -> str:
    if seconds is None:
        return ""
    value = seconds * _UNITS[unit]
    digits = 0 if value >= 100 else 1 if value >= 10 else 2
    return f"{value:,.{digits}f} {unit}" if unit != "/s" else f"{value:,.0f}/s"


def setting(versions: dict[str, str], problems: dict[str, str], load: float) -> str:
    day = time.strftime("%Y-%m-%d", time.gmtime())
    lines = [
        f"Measured {day} on {platform.system()} {platform.machine()}, {os.cpu_count()} cores, "
        f"CPython {platform.python_version()}. Load of the machine at the start: {load:.1f}"
        + (", measured with real-time priority." if _is_preferred() else "."),
        "",
        "| | version | what it is |",
        "|---|---|---|",
    ]
    for peer in PEERS:
        absent = problems.get(peer.package)
        version = f"not installed: {absent}" if absent else versions.get(peer.name, "not measured")
        lines.append(f"| {peer.name} | {version} | {peer.what} |")
    return "\n".join(lines)


def _is_preferred() -> bool:
    """Whether a real-time policy (`chrt`) lets us run before everything else on a busy machine."""
    policy = getattr(os, "sched_getscheduler", lambda _: 0)(0)
    return policy in (getattr(os, "SCHED_RR", -1), getattr(os, "SCHED_FIFO", -1))


def present(table: dict[str, dict[str, Figure]]) -> list[Peer]:
    names = {name for figures in table.values() for name in figures}
    return [peer for peer in PEERS if peer.name in names]


def main_table(rows: list[Row], table: dict[str, dict[str, Figure]]) -> str:
    peers = present(table)
    lines = [
        "| | " + " | ".join(peer.name for peer in peers) + " |",
        "|---|" + "---:|" * len(peers),
    ]
    for row in rows:
        figures = table[row.key]
        own = figures[OURS.name]
        lines.append(
            f"| {row.title} | "
            + " | ".join(_cell(row, figures[peer.name], own, peer) for peer in peers)
            + " |"
        )
    return "\n".join(lines)


def _cell(row: Row, figure: Figure, own: Figure, peer: Peer) -> str:
    if figure.middle is None:
        return _why_missing(row, figure.problem or "")
    text = spell(figure.middle, row.unit)
    if row.tail and figure.tail is not None:
        text += f", p99 {spell(figure.tail, row.unit)}"
    found = ratio(row, figure, own)
    if peer == OURS or found is None:
        return text
    times = f"{found:.2g}×" if found < 100 else f"{found:,.0f}×"
    return f"{text} (**{times}**)" if found < 1 else f"{text} ({times})"


def _why_missing(row: Row, problem: str) -> str:
    if not problem:
        return "—"
    if row.kind == "terminate":
        return "does not stop"
    if problem.startswith("nothing after"):
        return problem
    return problem if problem.startswith("it ") else "fails"


def where_peers_win(rows: list[Row], table: dict[str, dict[str, Figure]]) -> str:
    lines = []
    for row in rows:
        own = table[row.key][OURS.name]
        ahead = []
        for peer in present(table):
            found = ratio(row, table[row.key][peer.name], own) if peer != OURS else None
            if found is not None and found < 0.95:
                ahead.append((found, peer))
        if not ahead:
            continue
        ahead.sort(key=lambda item: item[0])
        by_reason: dict[str, list[str]] = {}
        for found, peer in ahead:
            reasons = _WHY_PROCESS if peer.has_process_per_run else _WHY_IN_PROCESS
            reason = reasons.get(row.key, _UNEXPLAINED)
            reason = _WHY_THIS_ONE.get((peer.name, row.key), reason)
            by_reason.setdefault(reason, []).append(f"{peer.name} ({found:.2g}×)")
        for reason, names in by_reason.items():
            lines.append(f"- **{row.title}**: {', '.join(names)}: {reason}.")
    return "\n".join(lines) or "Nowhere in this run."


def growth(curves: dict[str, dict[str, Curve]]) -> str:
    names = [peer.name for peer in PEERS if any(peer.name in found for found in curves.values())]
    lines = ["| cost against | " + " | ".join(names) + " |", "|---|" + "---|" * len(names)]
    for axis in AXES:
        found = curves.get(axis.key, {})
        cells = [_curve(found.get(name)) for name in names]
        lines.append(f"| {axis.title} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def _curve(curve: Curve | None) -> str:
    if curve is None:
        return "—"
    size, seconds = curve.points[-1]
    slope = "flat" if curve.exponent is None else f"n^{curve.exponent:.2f}"
    if curve.exponent is None and seconds > 2 * curve.points[0][1]:
        slope = "too slow to fit"
    return f"{slope} ({spell(seconds, 'ms')} at {size:,})"


def typescript(table: dict[str, dict[str, Figure]], curves: dict[str, dict[str, Curve]]) -> str:
    """The cost of types: in the first run of a process, and for a thousand lines."""
    lines = [
        "| | first JavaScript run | first TypeScript run | 1,000 lines of JavaScript "
        "| 1,000 lines of TypeScript | erasing them |",
        "|---|---:|---:|---:|---:|---:|",
    ]
    for peer in PEERS:
        typed = _at_thousand(curves, "typed", peer)
        if not peer.typescript or typed is None:
            continue
        plain = _at_thousand(curves, "plain", peer)
        first = [table.get(key, {}).get(peer.name, Figure()).middle for key in ("cold", "cold-ts")]
        ratio = f" ({first[1] / first[0]:.2f}×)" if first[0] and first[1] else ""
        cells = [
            spell(first[0], "ms"),
            spell(first[1], "ms") + ratio,
            spell(plain, "ms"),
            spell(typed, "ms"),
            spell(max(0.0, typed - plain), "ms") if plain is not None else "",
        ]
        lines.append(f"| {peer.name} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def _at_thousand(curves: dict[str, dict[str, Curve]], axis: str, peer: Peer) -> float | None:
    curve = curves.get(axis, {}).get(peer.name)
    return dict(curve.points).get(1_000) if curve else None


def machine(limits: dict[str, float], table: dict[str, dict[str, Figure]]) -> str:
    def own(key: str) -> float | None:
        return table[key][OURS.name].middle if key in table else None

    out, kept = own("floats"), own("kept")
    floats = (
        "a million float64 out, minus a run that only makes them",
        out - kept if out and kept and out > kept else None,
        "ms",
    )
    against = {
        "round trip": ("one synchronous bridge call", own("sync"), "µs"),
        "copy": floats,
        "new": floats,
        "fork": ("one fresh trivial run", own("fresh"), "µs"),
    }
    lines = ["| the machine | takes | ours | takes | times |", "|---|---:|---|---:|---:|"]
    for name, seconds in limits.items():
        what, value, unit = against[name]
        times = f"{value / seconds:.1f}×" if value else ""
        lines.append(
            f"| {floors.FLOORS[name]} | {spell(seconds, unit)} | {what} | {spell(value, unit)} "
            f"| {times} |"
        )
    return "\n".join(lines)
