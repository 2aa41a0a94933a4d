"""`python -m benchmarks.many`: many runs and a cluster on this machine, as ratios to `run_code` here.

Variants take turns in one process, because a busy machine slows all of them alike. Scheduler, worker
and client are processes of their own, so that the processor time of each is known.
"""

from __future__ import annotations

import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from time import perf_counter, process_time
from typing import Any, NamedTuple

from sandbox_kernel import run_code, run_many

SOURCE = "export default (n) => n"
ROUNDS, RUNS, INPUTS, CALLS = 5, 200, 40_000, 1000
THREADS = 8


def one_by_one(engine: Any = None) -> float:
    """Seconds of a run."""
    began = perf_counter()
    for n in range(RUNS):
        assert run_code(SOURCE, execute={"args": [n]}, engine=engine).wait(60).result == n
    return (perf_counter() - began) / RUNS


def at_once(engine: Any = None, isolate: Any = "item", count: int = RUNS) -> float:
    """Seconds of an input."""
    began = perf_counter()
    results = run_many(SOURCE, range(count), isolate=isolate, engine=engine)
    assert sum(result.result for result in results) == sum(range(count))
    return (perf_counter() - began) / count


def bridge_call(engine: Any = None) -> float:
    """Seconds of a synchronous call, and a share of its run."""
    source = f"export default () => {{ for (let i = 0; i < {CALLS}; i++) f(i) }}"
    began = perf_counter()
    assert run_code(source, globals={"f": abs}, engine=engine).wait(60).status == "success"
    return (perf_counter() - began) / CALLS


def wait_while_another_floods(flood: Any, other: Any) -> float:
    """Seconds until a short run of one client has its result, while another floods all threads."""
    flooding = run_many(SOURCE, iter(int, 1), engine=flood)
    begun = threading.Event()

    def consume() -> None:
        steady = perf_counter() + 2.0  # two slices: all threads are taken then
        for _ in flooding:
            if perf_counter() > steady:
                begun.set()

    thread = threading.Thread(target=consume)
    thread.start()
    begun.wait()
    began = perf_counter()
    assert run_code("export default 1", engine=other).wait(120).result == 1
    taken = perf_counter() - began
    flooding.terminate()
    thread.join()
    return taken


class Machines(NamedTuple):
    """A scheduler and a worker, by their process numbers, and clients of them."""

    scheduler: int
    worker: int
    client: Callable[[], Any]


@contextmanager
def machines() -> Iterator[Machines]:
    from distributed import Client

    with TemporaryDirectory() as folder:
        file = str(Path(folder, "scheduler.json"))
        common = ["--scheduler-file", file, "--host", "127.0.0.1", "--no-dashboard"]
        threads = ["--nthreads", str(THREADS), "--no-nanny", "--local-directory", folder]
        scheduler = _dask("scheduler", *common, "--port", "0")
        worker = _dask("worker", *common, *threads)
        connected = partial(Client, scheduler_file=file, set_as_default=False)
        try:
            yield Machines(scheduler.pid, worker.pid, connected)
        finally:
            for process in (worker, scheduler):
                process.terminate()
                process.wait()


def _dask(what: str, *options: str) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-W", "ignore", "-m", f"distributed.cli.dask_{what}", *options]
    return subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def processor_times(there: Machines, engine: Any, isolate: Any, count: int) -> dict[str, float]:
    """Seconds for an input: of this process, the scheduler, the Dask worker, and all sandboxes."""
    import psutil

    def now() -> dict[str, float]:
        scheduler, worker = psutil.Process(there.scheduler), psutil.Process(there.worker)
        # Zygotes that live, and those that were replaced; with what they have forked and buried.
        sandboxes = sum(worker.cpu_times()[2:4])
        sandboxes += sum(sum(zygote.cpu_times()[:4]) for zygote in worker.children())
        return {
            "client": process_time(),
            "scheduler": sum(scheduler.cpu_times()[:2]),
            "worker": sum(worker.cpu_times()[:2]),
            "sandboxes": sandboxes,
        }

    before = now()
    at_once(engine, isolate, count)
    return {name: (value - before[name]) / count for name, value in now().items()}


def main() -> None:
    from sandbox_kernel.cluster import DaskEngine

    with (
        machines() as there,
        there.client() as client,
        there.client() as another,
        DaskEngine(client) as engine,
        DaskEngine(client, direct=False) as relayed,
        DaskEngine(another) as other,
    ):
        ways = {"here": None, "cluster": engine, "through the scheduler": relayed}
        measures: dict[str, Callable[[Any], float]] = {
            "one by one": one_by_one,
            "at once": at_once,
            '`isolate="batch"`': lambda engine: at_once(engine, "batch", INPUTS),
            "call of a bridge": bridge_call,
        }
        variants = [(what, way) for what in measures for way in ways]
        taken: dict[tuple[str, str], list[float]] = {variant: [] for variant in variants}
        for round_ in range(ROUNDS + 1):  # everything is loaded after the first
            for what, way in variants:
                seconds = measures[what](ways[way])
                if round_:
                    taken[what, way].append(seconds)
        _print({variant: median(times) for variant, times in taken.items()}, list(ways))
        for isolate, count in (("item", 5 * RUNS), ("batch", 10 * INPUTS)):
            times = processor_times(there, engine, isolate, count)
            spelled = ", ".join(f"{name} {value * 1000:.4f} ms" for name, value in times.items())
            print(f"processor time of an input, isolate={isolate!r}: {spelled}")
        waits = [wait_while_another_floods(engine, other) for _ in range(ROUNDS)]
        print(
            f"another client waits {median(waits):.2f} s at the median, {max(waits):.2f} s at most"
        )


def _print(seconds: dict[tuple[str, str], float], ways: list[str]) -> None:
    print("| | " + " | ".join(ways) + " |\n|---|" + "---:|" * len(ways))
    for what in dict.fromkeys(what for what, _ in seconds):
        base = seconds["at once" if what.startswith("`") else what, "here"]
        cells = [
            f"{_spelled(seconds[what, way])} ({seconds[what, way] / base:.3g}×)" for way in ways
        ]
        print(f"| {what} | " + " | ".join(cells) + " |")


def _spelled(seconds: float) -> str:
    return f"{seconds * 1000:.3g} ms"


if __name__ == "__main__":
    main()
