"""Tools beside what they stand on, by processor time. `python -m benchmarks.tools`.

A call of a tool from a run beside a call of a bridge (at most 1.5), and `jsrun` beside a bare `run_code` of the
same source (at most 1.3). Processor time counts all that happens here, whatever else the machine does.
"""

from __future__ import annotations

import resource
import sys
from collections.abc import Callable
from typing import Any

from sandbox_kernel import run_code
from sandbox_kernel.tools import Toolbox, jsrun

CALLS = 2_000
_TIMES = 7
_RUNS = 50  # of what is over before a clock has ticked


def add(a: int, b: int) -> int:
    """Adds two numbers."""
    return a + b


async def add_later(a: int, b: int) -> int:
    """Adds two numbers."""
    return a + b


BOX = Toolbox([add, add_later])
BRIDGES: dict[str, Any] = {"add": add, "add_later": add_later}
_LOOP = "import * as lent from 'lent'; let n = 0; for (let i = 0; i < {count}; i++) n = {call}; export default n;"


def _calls(call: str, exports: dict[str, Any], count: int) -> Callable[[], Any]:
    source = _LOOP.format(call=call, count=count)
    return lambda: run_code(source, imports={"lent": exports}).wait().unwrap()


def ways(count: int) -> dict[str, tuple[Callable[[], Any], Callable[[], Any]]]:
    """What is measured, and beside what."""
    bridge = _calls("await lent.add_later(i, 1)", BRIDGES, count)
    lent = BOX.exports()
    script = "let s = 0; for (let i = 0; i < 1e5; i++) s += i;"
    return {
        "an async tool by name": (_calls("await lent.add_later({ a: i, b: 1 })", lent, count), bridge),
        "an async tool by callTool": (
            _calls("await lent.callTool('add_later', { a: i, b: 1 })", lent, count), bridge,
        ),
        "a plain tool, on a thread": (_calls("await lent.add({ a: i, b: 1 })", lent, count), bridge),
        "jsrun beside run_code": (
            lambda: [jsrun(f"{script} emit(String(s))") for _ in range(_RUNS)],
            lambda: [run_code(f"{script} export default String(s)").wait().unwrap() for _ in range(_RUNS)],
        ),
    }  # fmt: skip


def seconds(work: Callable[[], Any]) -> float:
    """Of this process's processor time; that of workers is the same on both sides."""
    began = resource.getrusage(resource.RUSAGE_SELF)
    work()
    ended = resource.getrusage(resource.RUSAGE_SELF)
    return ended.ru_utime + ended.ru_stime - began.ru_utime - began.ru_stime


def measure(count: int = CALLS, times: int = _TIMES) -> dict[str, tuple[float, float]]:
    """The best of each, taken in turn, so that both meet the same noise."""
    found: dict[str, tuple[float, float]] = {}
    for name, (work, beside) in ways(count).items():
        pairs = [(seconds(work), seconds(beside)) for _ in range(times)]
        found[name] = (min(pair[0] for pair in pairs), min(pair[1] for pair in pairs))
    return found


def main() -> None:
    print(f"{CALLS:,} calls, best of {_TIMES}, processor milliseconds\n", file=sys.stderr)
    print("| what | takes | beside it | ratio |\n|---|---:|---:|---:|")
    for name, (taken, beside) in measure().items():
        print(f"| {name} | {taken * 1000:.0f} | {beside * 1000:.0f} | {taken / beside:.2f} |")


if __name__ == "__main__":
    main()
