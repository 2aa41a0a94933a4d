"""Compares this kernel with other JavaScript kernels and ipykernel, driven by the same client."""

from __future__ import annotations

import contextlib
import json
import os
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from queue import Empty
from statistics import median
from typing import Any

from jupyter_client.manager import KernelManager

from . import install
from .report import spell

_SPECS = install.CACHE / "jupyter"
_TIMEOUT_SECONDS = 20.0


@dataclass(frozen=True)
class Kernel:
    """`spec` is its kernel name; `argv` is for a kernel specification that we write ourselves."""

    name: str
    spec: str
    lines: str
    loop: str
    package: tuple[str, str] | None = None
    argv: tuple[str, ...] = ()


_JAVASCRIPT = "for (let i = 0; i < 10000; i++) console.log('line ' + i)"
_LOOP = "console.log('going'); for (;;) {}"
OURS = Kernel("sandbox-kernel", "sandbox", _JAVASCRIPT, _LOOP)
KERNELS = (
    OURS,
    Kernel("ipykernel", "python3", "for i in range(10000): print('line', i)",
           "print('going', flush=True)\nwhile True: pass"),
    Kernel("Deno", "bench-deno", _JAVASCRIPT, _LOOP, ("pip", "deno"),
           (str(install.PYTHON.with_name("deno")), "jupyter", "--kernel", "--conn",
            "{connection_file}")),
    Kernel("tslab", "bench-tslab", _JAVASCRIPT, _LOOP, ("npm", "tslab"),
           (str(install.NODE / "node_modules" / ".bin" / "tslab"), "kernel", "--config-path",
            "{connection_file}")),
)  # fmt: skip


@dataclass
class Taken:
    """Seconds of each kind of work, and the fewest of 10,000 lines that arrived in a round."""

    start: list[float] = field(default_factory=list)
    cell: list[float] = field(default_factory=list)
    lines: list[float] = field(default_factory=list)
    arrived: int = 10_000
    interrupt: list[float] = field(default_factory=list)
    problems: dict[str, str] = field(default_factory=dict)


def measure(quick: bool = False) -> tuple[dict[str, Taken], dict[str, str]]:
    """What each kernel took, by name, and why any is missing."""
    problems = _prepare()
    kernels = [kernel for kernel in KERNELS if kernel.name not in problems]
    taken = {kernel.name: Taken() for kernel in kernels}
    for turn in range(1 if quick else 5):
        for kernel in kernels:
            print(f"kernels, round {turn + 1}: {kernel.name}", file=sys.stderr, flush=True)
            _round(kernel, taken[kernel.name], cells=10 if quick else 40)
    return taken, problems


def _prepare() -> dict[str, str]:
    """Installs the peers and writes their kernel specifications; returns why any is missing."""
    absent = install.install([kernel.package for kernel in KERNELS if kernel.package])
    for kernel in KERNELS:
        if kernel.argv:
            folder = _SPECS / "kernels" / kernel.spec
            folder.mkdir(parents=True, exist_ok=True)
            spec = {
                "argv": list(kernel.argv),
                "display_name": kernel.name,
                "language": "javascript",
            }
            (folder / "kernel.json").write_text(json.dumps(spec))
    os.environ["JUPYTER_PATH"] = str(_SPECS)
    return {
        kernel.name: absent[kernel.package[1]]
        for kernel in KERNELS
        if kernel.package and kernel.package[1] in absent
    }


def _round(kernel: Kernel, taken: Taken, cells: int) -> None:
    began = time.perf_counter()
    try:
        with _running(kernel) as (manager, client):
            _execute(client, "1 + 1")
            taken.start.append(time.perf_counter() - began)
            taken.cell += [_execute(client, "1 + 1")[0] for _ in range(cells)]
            _lines(client, kernel, taken)
            with _noted(taken, "interrupt"):
                taken.interrupt.append(_interrupt(manager, client, kernel))
    except Exception as problem:
        taken.problems["start"] = f"{type(problem).__name__}: {problem}"[:100]


@contextlib.contextmanager
def _running(kernel: Kernel) -> Iterator[tuple[Any, Any]]:
    manager = KernelManager(kernel_name=kernel.spec)
    manager.start_kernel(stderr=-3, stdout=-3)
    client = manager.client()
    client.start_channels()
    try:
        client.wait_for_ready(timeout=_TIMEOUT_SECONDS)
        yield manager, client
    finally:
        client.stop_channels()
        manager.shutdown_kernel(now=True)


@contextlib.contextmanager
def _noted(taken: Taken, what: str) -> Iterator[None]:
    try:
        yield
    except (Empty, TimeoutError):
        taken.problems[what] = f"nothing after {_TIMEOUT_SECONDS / 4:.0f} s"


def _execute(
    client: Any, code: str, hook: Callable[[Any], None] = lambda _: None
) -> tuple[float, Any]:
    began = time.perf_counter()
    reply = client.execute_interactive(code, output_hook=hook, timeout=_TIMEOUT_SECONDS)
    return time.perf_counter() - began, reply


def _lines(client: Any, kernel: Kernel, taken: Taken) -> None:
    counted = 0

    def count(message: Any) -> None:
        nonlocal counted
        if message["msg_type"] == "stream":
            counted += message["content"]["text"].count("\n")

    taken.lines.append(_execute(client, kernel.lines, count)[0])
    taken.arrived = min(taken.arrived, counted)


def _interrupt(manager: Any, client: Any, kernel: Kernel) -> float:
    """Seconds from asking until the reply of the cell."""
    client.execute(kernel.loop)
    end = time.perf_counter() + _TIMEOUT_SECONDS / 4
    while client.get_iopub_msg(timeout=max(0.1, end - time.perf_counter()))["msg_type"] != "stream":
        pass
    time.sleep(0.05)
    began = time.perf_counter()
    manager.interrupt_kernel()
    client.get_shell_msg(timeout=_TIMEOUT_SECONDS / 4)
    return time.perf_counter() - began


# ---------------------------------------------------------------------------- as a table

_ROWS = (
    ("start", "start to first result"),
    ("cell", "warm trivial cell"),
    ("lines", "10,000 lines of output"),
    ("interrupt", "interrupt an endless loop"),
)


def table(taken: dict[str, Taken], problems: dict[str, str]) -> str:
    names = list(taken)
    lines = ["| | " + " | ".join(names) + " |", "|---|" + "---:|" * len(names)]
    for key, title in _ROWS:
        cells = [_cell(key, taken[name], taken[OURS.name]) for name in names]
        lines.append(f"| {title} | " + " | ".join(cells) + " |")
    lines += [f"\n{name} is not installed: {problem}." for name, problem in problems.items()]
    return "\n".join(lines)


def _cell(key: str, taken: Taken, own: Taken) -> str:
    samples = getattr(taken, key)
    if not samples:
        if key == "interrupt" and taken.start:
            return "does not stop"
        return taken.problems.get(key) or taken.problems.get("start", "—")
    middle, base = median(samples), median(getattr(own, key) or [0.0])
    text = spell(middle, "ms")
    if key == "lines" and taken.arrived < 10_000:
        text += f", {10_000 - taken.arrived:,} lost"
    if taken is own or not base:
        return text
    times = f"{middle / base:.2g}×"
    return f"{text} (**{times}**)" if middle < base else f"{text} ({times})"


if __name__ == "__main__":
    print(table(*measure(quick="--quick" in sys.argv)))
