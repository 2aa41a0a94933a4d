"""`python -m benchmarks`: installs the peers, measures, writes docs/benchmarks.md and its chart."""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import sys
from dataclasses import asdict
from typing import Any

from . import bounds, chart, floors, install, kernels, measure, report, scaling
from .measure import Figure
from .peer import OURS, PEERS, Driver
from .scaling import Curve

LAST = install.CACHE / "last.json"


def main() -> None:
    options = _options()
    if options.bounds:
        part, parts = map(int, options.bounds.split("/"))
        report.write_bounds(
            _merged_with_last({"table": {}, "bounds": bounds.measure_all(part, parts)})
        )
        return
    wanted = [peer for peer in PEERS if not options.peers or peer.name in options.peers]
    wanted = wanted if OURS in wanted else [OURS, *wanted]
    problems = install.install([(peer.kind, peer.package) for peer in wanted if peer != OURS])
    present = [peer for peer in wanted if peer.package not in problems]
    rows = [row for row in measure.ROWS if not options.rows or row.key in options.rows]
    found: dict[str, Any] = {"load": os.getloadavg()[0], "problems": problems}
    drivers = [Driver(peer) for peer in present]
    try:
        found["table"] = measure.measure(drivers, rows, options.quick)
        if {row.key for row in rows} >= floors.ROWS:
            found["limits"] = floors.measure(20 if options.quick else 200)
        if not options.rows:
            found["curves"] = scaling.measure(drivers, options.quick)
    finally:
        for driver in drivers:
            driver.close()
    print(report.main_table(rows, found["table"]))
    if options.peers or options.quick:
        return
    if not options.rows:
        found["kernels"] = kernels.table(*kernels.measure())
        found["bounds"] = bounds.measure_all()
    found["versions"] = {peer.name: install.version(peer.kind, peer.package) for peer in present}
    _write(_merged_with_last(found))


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    keys = [row.key for row in measure.ROWS]
    parser.add_argument(
        "--quick", action="store_true", help="one short round; does not write the page"
    )
    parser.add_argument("--rows", nargs="+", choices=keys,
                        help="measure only these; the page keeps the other rows")  # fmt: skip
    parser.add_argument("--peers", nargs="+", choices=[peer.name for peer in PEERS],
                        help="measure only these and ours; does not write the page")  # fmt: skip
    parser.add_argument("--bounds", nargs="?", const="1/1", metavar="PART/PARTS",
                        help="measure only what a hostile guest costs its host; or a part of that,"
                             " 1/3 for instance: the page keeps the other parts")  # fmt: skip
    return parser.parse_args()


def _merged_with_last(found: dict[str, Any]) -> dict[str, Any]:
    """Replaces rows of the last run by those measured now; a row is never from two runs."""
    last: dict[str, Any] = {"table": {}, "curves": {}, "limits": {}, "kernels": "", "bounds": {}}
    with contextlib.suppress(OSError, ValueError):
        last.update(json.loads(LAST.read_text()))
    last["table"] = {
        key: {name: Figure(**figure) for name, figure in row.items()}
        for key, row in last["table"].items()
    }
    last["curves"] = {
        key: {name: Curve(**curve) for name, curve in row.items()}
        for key, row in last["curves"].items()
    }
    merged = {**last, **found, "table": {**last["table"], **found["table"]}}
    if "bounds" in found:
        merged["bounds"] = bounds.merged(last["bounds"], found["bounds"])
    LAST.parent.mkdir(parents=True, exist_ok=True)
    LAST.write_text(json.dumps(merged, default=asdict, indent=1))
    return merged


def _write(found: dict[str, Any]) -> None:
    rows = [row for row in measure.ROWS if row.key in found["table"]]
    report.CHART.write_text(chart.draw(rows, found["table"]), encoding="utf-8")
    report.write(rows, found)
    print(f"wrote {report.PAGE} and {report.CHART}", file=sys.stderr)


if __name__ == "__main__":
    main()
