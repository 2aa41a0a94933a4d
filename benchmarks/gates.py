"""What the gate costs a call that a rule allows: under 5 microseconds is the aim. `python -m benchmarks.gates`.

Whole calls from a run, and the host's part of them alone: that is where the gate stands, and a few hundred
nanoseconds cannot be told from the noise of messages between two processes.
"""

from __future__ import annotations

import asyncio
import contextvars
import sys
from time import perf_counter

from sandbox_kernel import run_code
from sandbox_kernel.bridges import Bridges
from sandbox_kernel.calls import CallLog
from sandbox_kernel.engine.calls import Calls
from sandbox_kernel.engine.complaints import Complaints
from sandbox_kernel.permissions import Policy
from sandbox_kernel.wire.frame import Buffer

CALLS = 4_000
_TIMES = 15
_WAYS: dict[str, Policy | None] = {
    "without a policy": None,
    "a rule that allows": Policy({"add": "allow"}),
}
_SOURCE = "let sum = 0; for (let i = 0; i < {calls}; i++) sum += add(i); export default sum"


def add(number: int) -> int:
    return number


def seconds(policy: Policy | None, calls: int) -> float:
    """Of one run with so many synchronous calls."""
    source = _SOURCE.format(calls=calls)
    start = perf_counter()
    run_code(source, globals={"add": add}, policy=policy).wait().unwrap()
    return perf_counter() - start


class _Nobody:
    """A guest that reads no answers."""

    def post(self, frame: list[Buffer], *, now: bool = False) -> None: ...
    def post_answer(self, call: int, json: str) -> None: ...


async def host_seconds(policy: Policy | None, calls: int) -> float:
    """Of the host's part of so many calls."""
    bridges = Bridges()
    bridges.name_of = lambda path: "add"
    number, *_ = bridges.lend_function(add, "add")
    loop = asyncio.get_running_loop()
    made = Calls(
        loop,
        contextvars.copy_context(),
        bridges,
        _Nobody(),
        Complaints(loop),
        CallLog(),
        None if policy is None else policy.gate(),
        on_asking=lambda asking: None,
        most_in_errors=0,
    )
    start = perf_counter()
    for call in range(calls):
        made.make(call, number, [call], 1, 1)
    return perf_counter() - start


def measure(calls: int = CALLS, times: int = _TIMES) -> dict[str, tuple[float, float]]:
    """Microseconds a call, whole and the host's part: the best of each way, taken in turn, so that both
    meet the same noise."""
    best = dict.fromkeys(_WAYS, (float("inf"), float("inf")))
    for _ in range(times):
        for way, policy in _WAYS.items():
            taken = seconds(policy, calls), asyncio.run(host_seconds(policy, calls))
            whole, part = (each / calls * 1e6 for each in taken)
            best[way] = min(best[way][0], whole), min(best[way][1], part)
    return best


def main() -> None:
    print(
        f"{CALLS:,} synchronous calls, best of {_TIMES}, in microseconds a call\n", file=sys.stderr
    )
    plain, gated = measure().values()
    print("| | without a policy | a rule that allows | the gate |")
    print("|---|---:|---:|---:|")
    for name, a, b in zip(("a whole call", "the host's part"), plain, gated, strict=True):
        print(f"| {name} | {a:.1f} | {b:.1f} | {b - a:.1f} |")


if __name__ == "__main__":
    main()
