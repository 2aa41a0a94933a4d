"""Compares the kernel with ipykernel in one run: `python -m benchmarks.kernel`.

The same client drives both, in turns, so that other load on the machine affects both. Prints the
ratio of the medians next to its target.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from statistics import median, quantiles
from typing import Any

from jupyter_client.blocking.client import BlockingKernelClient
from jupyter_client.manager import start_new_kernel

OURS, THEIRS = "sandbox", "python3"
LINES = {
    OURS: "for (let i = 0; i < 10000; i++) console.log('line ' + i)",
    THEIRS: "for i in range(10000): print('line', i)",
}


@contextmanager
def kernel(name: str) -> Iterator[BlockingKernelClient]:
    manager, client = start_new_kernel(kernel_name=name)
    try:
        yield client
    finally:
        client.stop_channels()
        manager.shutdown_kernel(now=True)


def run(client: BlockingKernelClient, code: str) -> float:
    """Seconds from the request until the kernel is idle and every output is received."""
    started = time.perf_counter()
    client.execute_interactive(code, output_hook=lambda _message: None, timeout=60)
    return time.perf_counter() - started


def in_turns(sample: Callable[[str], float], rounds: int) -> dict[str, list[float]]:
    times: dict[str, list[float]] = {OURS: [], THEIRS: []}
    for _ in range(rounds):
        for name, taken in times.items():
            taken.append(sample(name))
    return times


def start_to_first_result(name: str) -> float:
    started = time.perf_counter()
    with kernel(name) as client:
        run(client, "1+1")
        return time.perf_counter() - started


def interrupt(client: BlockingKernelClient) -> float:
    """Seconds from asking to interrupt an endless loop until the reply of its cell."""
    client.execute("console.log('going'); for (;;) {}")
    while client.get_iopub_msg(timeout=30)["msg_type"] != "stream":
        pass
    started = time.perf_counter()
    client.control_channel.send(client.session.msg("interrupt_request", {}))
    reply = client.get_shell_msg(timeout=30)
    taken = time.perf_counter() - started
    assert reply["content"]["ename"] == "terminated"
    client.get_control_msg(timeout=30)
    while not _is_idle(client.get_iopub_msg(timeout=30), reply["parent_header"]["msg_id"]):
        pass
    return taken


def _is_idle(message: dict[str, Any], msg_id: str) -> bool:
    return bool(
        message["content"].get("execution_state") == "idle"
        and message["parent_header"]["msg_id"] == msg_id
    )


def line(what: str, times: dict[str, list[float]], target: float) -> None:
    ours, theirs = (median(times[name]) * 1000 for name in (OURS, THEIRS))
    print(f"{what:<28} {ours:>9.2f} ms {theirs:>9.2f} ms {ours / theirs:>7.2f}  (target {target})")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=100)
    rounds = parser.parse_args().rounds
    print(f"{'':<28} {'sandbox':>12} {'ipykernel':>12} {'ratio':>7}")
    with kernel(OURS) as ours, kernel(THEIRS) as theirs:
        clients = {OURS: ours, THEIRS: theirs}
        for client in clients.values():
            for _ in range(5):
                run(client, "1+1")
        line("trivial cell", in_turns(lambda n: run(clients[n], "1+1"), rounds), 1.3)
        lines = in_turns(lambda n: run(clients[n], LINES[n]), max(3, rounds // 10))
        line("10,000 console lines", lines, 1.0)
        waits = [interrupt(ours) * 1000 for _ in range(max(5, rounds // 5))]
    line("start to first result", in_turns(start_to_first_result, max(3, rounds // 15)), 1.0)
    print(f"interrupt of a tight loop: median {median(waits):.1f} ms,"
          f" 9 in 10 within {quantiles(waits, n=10)[-1]:.1f} ms (target 20)")  # fmt: skip


if __name__ == "__main__":
    main()
