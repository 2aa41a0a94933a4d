"""Calls of capabilities beside bridges written by hand for the same, by processor time.
`python -m benchmarks.capabilities`.

The aim is at most 1.2 times. Processor time is that of this process and of its sandboxes, whatever else
the machine does. What a hand-written reader checks is what notebook 3 teaches.
"""

from __future__ import annotations

import asyncio
import resource
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from sandbox_kernel import open_code
from sandbox_kernel.capabilities import files, limited, timers

CALLS = 2_000
_TIMES = 9
LOOP = """{head}
export const go = async (count) => {{ let last; for (let i = 0; i < count; i++) last = {call}; return last; }};
"""


class Way(NamedTuple):
    """Code that calls, and what it is lent."""

    head: str
    call: str
    options: dict[str, Any]


def reader_of(root: Path) -> dict[str, Any]:
    """A file reader that stays in its folder, as one would write it."""

    def read(path: str) -> str:
        if not isinstance(path, str) or "\0" in path:
            raise ValueError("path must be text")
        found = (root / path).resolve()
        if not found.is_relative_to(root):
            raise PermissionError(f"{path} is outside of the folder")
        return found.read_text(encoding="utf-8")

    async def read_later(path: str) -> str:
        return read(path)

    return {"read": read, "readLater": read_later}


async def pause(milliseconds: float) -> None:
    await asyncio.sleep(milliseconds / 1000)


def add(a: int, b: int) -> int:
    return a + b


def ways(root: Path) -> dict[str, tuple[Way, Way]]:
    """What is measured, and beside what."""
    (root / "a.txt").write_text("x" * 1000)
    reader = {"imports": {"mine": reader_of(root.resolve())}}
    lent = {"lend": [files(root)]}
    many = 10**9
    return {
        "`fs.readFileSync` of 1 kB": (
            Way("import fs from 'fs';", "fs.readFileSync('a.txt', 'utf8')", lent),
            Way("import { read } from 'mine';", "read('a.txt')", reader),
        ),
        "`await fs.readFile` of 1 kB": (
            Way("import fs from 'fs/promises';", "await fs.readFile('a.txt', 'utf8')", lent),
            Way("import { readLater } from 'mine';", "await readLater('a.txt')", reader),
        ),
        "`await sleep(0)`": (
            Way("", "await sleep(0)", {"lend": [timers(limit=many)]}),
            Way("", "await pause(0)", {"globals": {"pause": pause}}),
        ),
        "a `limited` function": (
            Way("", "m.add(i, 1)", {"globals": {"m": limited({"add": add}, calls=many)}}),
            Way("", "m.add(i, 1)", {"globals": {"m": {"add": add}}}),
        ),
    }


async def seconds(way: Way, count: int) -> float:
    """Of processor time, here and in the sandbox, for so many calls."""
    source = LOOP.format(head=way.head, call=way.call)
    async with open_code(source, way.options) as module:
        await module.go(10)
        began = _processor_seconds()
        await module.go(count)
        return _processor_seconds() - began


def _processor_seconds() -> float:
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime + sum(map(_seconds_of, _descendants("self")))


def _descendants(pid: str) -> Iterator[str]:
    for task in Path(f"/proc/{pid}/task").iterdir():
        for child in (task / "children").read_text().split():
            yield child
            yield from _descendants(child)


def _seconds_of(pid: str) -> float:
    tasks = Path(f"/proc/{pid}/task").iterdir()
    return sum(int((task / "schedstat").read_text().split()[0]) for task in tasks) / 1e9


async def measure(count: int = CALLS, times: int = _TIMES) -> dict[str, tuple[float, float]]:
    """Microseconds a call, the best of each, taken in turn, so that both meet the same noise."""
    found: dict[str, tuple[float, float]] = {}
    with tempfile.TemporaryDirectory() as folder:
        for name, (way, beside) in ways(Path(folder)).items():
            taken = [
                (await seconds(way, count), await seconds(beside, count)) for _ in range(times)
            ]
            found[name] = (min(each[0] for each in taken), min(each[1] for each in taken))
    return {name: (a / count * 1e6, b / count * 1e6) for name, (a, b) in found.items()}


def main() -> None:
    print(f"{CALLS:,} calls, best of {_TIMES}, processor microseconds a call\n", file=sys.stderr)
    print("| call | capability | by hand | ratio |\n|---|---:|---:|---:|")
    for name, (taken, beside) in asyncio.run(measure()).items():
        print(f"| {name} | {taken:.1f} | {beside:.1f} | {taken / beside:.2f} |")


if __name__ == "__main__":
    main()
