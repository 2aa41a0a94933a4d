"""`%runs` as text."""

from __future__ import annotations

import re

from sandbox_kernel import Engine, run_code
from sandbox_kernel.notebook.runs import describe_runs
from tests.waiting import until


def test_it_says_what_executes_and_what_waits_oldest_first() -> None:
    with Engine(spares=1, concurrency=1) as engine:
        source = "report(1); report(2); for (;;);"
        names = ["first.ts", *(f"{n}.ts" for n in range(101))]
        runs = [run_code(source, engine=engine, report=_ignore, filename=name) for name in names]
        assert until(lambda: len(runs[0].reports) == 2)
        lines = describe_runs(engine.runs()).splitlines()
    assert re.fullmatch(r"executing +\d+\.\d s  first\.ts  2 reports", lines[0])
    assert re.fullmatch(r"queued +\d+\.\d s  0\.ts", lines[1])
    assert (len(lines), lines[-1]) == (101, "… 2 more")
    assert describe_runs([]) == "no runs"


def _ignore(_value: object) -> None:
    """A sink, so that the guest may report."""
