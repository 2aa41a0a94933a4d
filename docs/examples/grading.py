"""Grades a class: runs each student's Python file against the same cases, and prints a table.

    python grading.py submissions/*.py

A submission defines `solve(numbers)`. It runs isolated, with five seconds and 128 MiB. It cannot see
the expected answers, because they never enter its sandbox: it gets the inputs, and gives answers back.
"""

import asyncio
import json
import sys
from pathlib import Path

from sandbox_kernel import run_program

CASES = [([3, 1, 2], [1, 2, 3]), ([], []), ([5, 5, -1], [-1, 5, 5])]  # to be sorted
HARNESS = """
import json, sys
import submission
set_result([submission.solve(numbers) for numbers in json.load(sys.stdin)])
"""


async def grade(path):
    """Points, and what to tell the student."""
    inputs = json.dumps([numbers for numbers, _ in CASES])
    files = {"submission.py": path.read_bytes()}
    limits = {"timeout_ms": 5_000, "memory_limit_bytes": 128 * 2**20}
    result = await run_program(HARNESS, stdin=inputs, files=files, **limits)
    if result.killed or result.oom:
        return 0, result.reason or "it used too much memory"
    if result.exit_code:
        *_, last = result.stderr.strip().splitlines() or [
            f"it ended with exit code {result.exit_code}"
        ]
        return 0, printable(last)
    answers = result.result if isinstance(result.result, list) else []
    right = sum(given == expected for given, (_, expected) in zip(answers, CASES, strict=False))
    return right, f"{right} of {len(CASES)} right"


def printable(text):
    """Without what could take over your terminal: a submission writes this text."""
    return "".join(letter if letter.isprintable() else "?" for letter in text)[:100]


async def main(paths):
    grades = await asyncio.gather(*map(grade, paths))
    for path, (points, note) in zip(paths, grades, strict=True):
        print(f"{path.stem:<16}{points:>3}  {note}")


if __name__ == "__main__":
    asyncio.run(main([Path(name) for name in sys.argv[1:]]))
