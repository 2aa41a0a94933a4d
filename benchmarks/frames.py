"""A DataFrame of 100,000 rows into the sandbox: as rows and as columns. `python -m benchmarks.frames`."""

from __future__ import annotations

import sys
from collections.abc import Callable
from time import perf_counter
from typing import Any

import numpy as np
import pandas as pd

from sandbox_kernel import columns, run_code

ROWS = 100_000
_TIMES = 7
_MEMORY = 2**30


def frames(rows: int) -> dict[str, pd.DataFrame]:
    """By what is in their columns."""
    number = np.arange(rows)
    mixed = pd.DataFrame(
        {"id": number, "x": number * 1.5, "name": [f"name {n}" for n in range(rows)]}
    )
    moments = pd.date_range("2024-01-01", periods=rows, freq="s")
    return {
        "a number, a float, a text": mixed,
        "the same, a moment, a flag": mixed.assign(at=moments, ok=number % 2 == 0),
        "six floats": pd.DataFrame(dict.fromkeys("abcdef", number * 0.5)),
    }


WAYS: dict[str, Callable[[pd.DataFrame], Any]] = {
    "to_dict": lambda frame: frame.to_dict("records"),
    "records": lambda frame: frame,
    "columns": columns,
}


def seconds(frame: pd.DataFrame, way: Callable[[pd.DataFrame], Any]) -> float:
    """One run that is lent the frame and only looks whether it is there."""
    start = perf_counter()
    source = "export default typeof lent"
    lent = {"lent": way(frame)}
    run_code(source, globals=lent, memory_limit_bytes=_MEMORY).wait().unwrap()
    return perf_counter() - start


def measure(rows: int = ROWS, times: int = _TIMES) -> dict[str, dict[str, float]]:
    """The best time of each way, taken in turn, so that all of them meet the same noise."""
    found: dict[str, dict[str, float]] = {}
    for name, frame in frames(rows).items():
        best = dict.fromkeys(WAYS, float("inf"))
        for _ in range(times):
            for way, lend in WAYS.items():
                best[way] = min(best[way], seconds(frame, lend))
        found[name] = best
    return found


def main() -> None:
    print(f"{ROWS:,} rows, best of {_TIMES}, in milliseconds\n", file=sys.stderr)
    print("| columns of the frame | `df.to_dict('records')` | `df` | `columns(df)` | ratio |")
    print("|---|---:|---:|---:|---:|")
    for name, best in measure().items():
        cells = " | ".join(f"{best[way] * 1000:.0f}" for way in WAYS)
        print(f"| {name} | {cells} | {best['records'] / best['columns']:.1f} |")


if __name__ == "__main__":
    main()
