"""`python -m benchmarks.programs`: isolated programs beside what people would start instead.

All candidates of a row take turns, so that noise falls on all of them alike: read the ratios. What is
not installed is said to be missing. `--quick` takes three rounds.
"""

from __future__ import annotations

import asyncio
import os
import shutil
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from typing import NamedTuple

from sandbox_kernel import run_program
from sandbox_kernel.programs import Programs
from sandbox_kernel.programs.binaries import find_binary
from sandbox_kernel.programs.settings import Settings

TRIVIAL = "print(6 * 7)"
IMPORTS = "import json, asyncio, decimal\nprint(6 * 7)"
PANDAS = "import pandas\nprint(pandas.DataFrame({'a': [1, 2]}).a.sum())"
CONSOLE = "console.log(6 * 7)"
_BWRAP = ("bwrap", "--ro-bind", "/", "/", "--unshare-all", "--die-with-parent")


class Candidate(NamedTuple):
    """Something that runs a program once; None if it is not here."""

    name: str
    run: Callable[[], object] | None


class Row(NamedTuple):
    """The first candidate is ours, the second what it is compared with."""

    title: str
    aim: float
    candidates: list[Candidate]


def rows(programs: Programs) -> list[Row]:
    python = os.path.realpath(sys.executable)
    here = sys.executable  # with the packages of this environment
    return [
        Row("trivial Python program", 0.2, [
            _ours(programs, TRIVIAL),
            _cold("python3 -I -S", [python, "-I", "-S", "-c", TRIVIAL]),
            _cold("python3", [python, "-c", TRIVIAL]),
            _cold("bwrap python3 -I -S", [*_BWRAP, python, "-I", "-S", "-c", TRIVIAL]),
            _monty(),
        ]),
        Row("with json, asyncio, decimal", 0.05, [
            _ours(programs, IMPORTS),
            _cold("python3 -I -S", [python, "-I", "-S", "-c", IMPORTS]),
        ]),
        Row("with pandas", 0.1, [
            _ours(programs, PANDAS, packages=["pandas"]),
            _cold("python3", [here, "-c", PANDAS]),
        ]),
        Row("trivial Node program", 0.5, [
            _ours(programs, CONSOLE, language="node"),
            _cold("node", [_binary("node"), "-e", CONSOLE]),
        ]),
        Row("trivial Deno program", 1.5, [
            _ours(programs, CONSOLE, language="deno"),
            _cold("deno eval", [_binary("deno"), "eval", CONSOLE]),
        ]),
    ]  # fmt: skip


def _binary(runtime: str) -> str:
    try:
        found = find_binary(runtime, Settings())
    except Exception:
        return runtime  # which is then missing
    return found.path if found is not None else runtime


def _ours(programs: Programs, code: str, **options: object) -> Candidate:
    def run() -> None:
        done = run_program(code, engine=programs, **options).wait()  # type: ignore[arg-type]  # any option
        if done.exit_code:
            raise RuntimeError(done.stderr)

    return Candidate("run_program", run)


def _cold(name: str, command: list[str]) -> Candidate:
    if shutil.which(command[0]) is None:
        return Candidate(name, None)
    return Candidate(name, lambda: subprocess.run(command, capture_output=True, check=True))


def _monty() -> Candidate:
    """An interpreter of a part of Python, in this process: no isolation by the system."""
    try:
        from pydantic_monty import Monty  # type: ignore[import-not-found]  # if it is installed
    except ImportError:
        return Candidate("pydantic-monty", None)
    return Candidate("pydantic-monty", lambda: Monty(TRIVIAL).run())


def measured(row: Row, rounds: int) -> dict[str, float | None]:
    """The median milliseconds of each candidate; the first turn of each is not counted."""
    taken: dict[str, list[float]] = {each.name: [] for each in row.candidates}
    for turn in range(rounds + 1):
        for name, run in row.candidates:
            if run is None:
                continue
            began = time.perf_counter()
            run()
            if turn:
                taken[name].append((time.perf_counter() - began) * 1000)
    return {name: statistics.median(each) if each else None for name, each in taken.items()}


def spelled(row: Row, found: dict[str, float | None]) -> str:
    ours, base = (found[each.name] for each in row.candidates[:2])
    ratio = f"{ours / base:.2f} of it" if ours and base else "not compared"
    cells = [
        f"{name} {value:.1f} ms" if value is not None else f"{name}: missing"
        for name, value in found.items()
    ]
    return f"{row.title}: {ratio} (aim {row.aim:g}); {', '.join(cells)}"


async def _many(programs: Programs, code: str, count: int) -> float:
    """Programs a second, several at once."""
    began = time.perf_counter()
    gate = asyncio.Semaphore(8)

    async def one() -> None:
        async with gate:
            await run_program(code, engine=programs)

    await asyncio.gather(*(one() for _ in range(count)))
    return count / (time.perf_counter() - began)


def _many_cold(code: str, count: int) -> float:
    command = [os.path.realpath(sys.executable), "-I", "-S", "-c", code]
    began = time.perf_counter()
    running: list[subprocess.Popen[bytes]] = []
    for _ in range(count):
        if len(running) >= 2 * (os.cpu_count() or 1):
            running.pop(0).wait()
        running.append(subprocess.Popen(command, stdout=subprocess.DEVNULL))
    for process in running:
        process.wait()
    return count / (time.perf_counter() - began)


class Memory(NamedTuple):
    """MB of a waiting process: its share of all pages, and the pages that are its own."""

    share: float
    own: float


def spare_memory(programs: Programs) -> list[Memory]:
    """Of waiting guests and their supervisors, each."""
    import psutil

    zygotes = [psutil.Process(each).children() for each in programs.processes().zygotes]
    waiting = [each for group in zygotes for zygote in group for each in zygote.children(True)]
    found = [each.memory_full_info() for each in waiting]
    return [Memory(each.pss / 1e6, each.uss / 1e6) for each in found]


def main() -> None:
    quick = "--quick" in sys.argv
    with Programs() as programs:
        run_program(TRIVIAL, engine=programs).wait()
        for row in rows(programs):
            print(spelled(row, measured(row, 3 if quick else 40)), flush=True)
    with Programs() as programs:
        run_program(TRIVIAL, engine=programs).wait()
        for name, code in (("trivial", TRIVIAL), ("with json, asyncio, decimal", IMPORTS)):
            count = 20 if quick else 400
            ours, cold = asyncio.run(_many(programs, code, count)), _many_cold(code, count // 2)
            print(
                f"programs a second, {name}: {ours:.0f}, cold interpreters {cold:.0f}:"
                f" {ours / cold:.1f} times (aim 5)"
            )
        time.sleep(1)  # until spares wait again
        sizes = ", ".join(f"{each.share:.1f} ({each.own:.1f})" for each in spare_memory(programs))
        print(f"PSS of waiting processes (and their own pages), MB: {sizes} (aim: 2 for a place)")


if __name__ == "__main__":
    main()
