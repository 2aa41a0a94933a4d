"""`%runs`, the same in the kernel and in the magic: which runs there are, and an end to all of them."""

from __future__ import annotations

from collections.abc import Sequence

from ..clean import clean_line
from ..engine import Engine
from ..errors import OptionError
from ..execution import CodeExecution
from ..spelling import suggestion, synonyms

RUNS_WORDS = ("terminate",)
_SYNONYMS = synonyms(terminate="stop end kill cancel")
_SHOWN = 100  # runs; an engine may have a thousand in its queue
_NONE = "no runs"


def check_runs(line: str) -> None:
    """Raises if `%runs` cannot accept its line."""
    if line and line not in RUNS_WORDS:
        hint = suggestion(line, RUNS_WORDS, others=_SYNONYMS)
        raise OptionError(f"%runs cannot do {line!r}; {hint}", "runs")


def answer_runs(line: str) -> str:
    """Lists the runs of the default engine, or terminates them."""
    check_runs(line)
    engine = Engine.instance()
    runs = engine.runs()
    if not line:
        return describe_runs(runs)
    engine.terminate_all("%runs terminate")
    return f"terminated: {len(runs)} run{'' if len(runs) == 1 else 's'}" if runs else _NONE


def describe_runs(runs: Sequence[CodeExecution]) -> str:
    """A line for each, oldest first."""
    if not runs:
        return _NONE
    lines = [_describe(run) for run in runs[:_SHOWN]]
    left = len(runs) - len(lines)
    return "\n".join([*lines, f"… {left:,} more"] if left else lines)


def _describe(run: CodeExecution) -> str:
    state = "executing" if run.started else "queued"
    count = len(run.reports)
    reports = f"  {count:,} report{'' if count == 1 else 's'}" if count else ""
    return f"{state:<9} {run.duration_ms / 1000:>7.1f} s  {clean_line(run.filename)}{reports}"
