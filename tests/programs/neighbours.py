"""Two programs at once: whether one has its threads, though the other has as many as it may.

`python -m tests.programs.neighbours LAYER` says so, of a host that lacks the layer; a host that is
not root gives each program users of its own, and those count for themselves.
"""

from __future__ import annotations

import sys
import threading

import pytest

from sandbox_kernel.errors import IsolationError
from sandbox_kernel.programs.protocol import NAMESPACES
from sandbox_kernel.run import run_program
from tests.programs.weakened import programs_without

THREADS = 50  # of 64
SECONDS = 60
HAS_THREADS = f"""
import threading
everything = threading.Event()
try:
    for _ in range({THREADS}):
        threading.Thread(target=everything.wait, daemon=True).start()
    print('through')
except RuntimeError:
    print('held')
"""


def second_of_two(layer: str) -> str:
    """What the second of them says, while the first has its threads."""
    first_has_them, second_is_done = threading.Event(), threading.Event()

    def wait() -> None:
        first_has_them.set()
        second_is_done.wait(SECONDS)

    with (
        pytest.MonkeyPatch.context() as patch,
        programs_without(layer, NAMESPACES, patch) as programs,
    ):
        programs.doctor()
        first = run_program(HAS_THREADS + "call_tool('wait')", engine=programs, tools=[wait])
        try:
            assert first_has_them.wait(SECONDS), first
            return run_program(HAS_THREADS, engine=programs).wait(SECONDS).stdout.strip()
        finally:
            second_is_done.set()
            first.wait(SECONDS)


if __name__ == "__main__":
    try:
        print(second_of_two(sys.argv[1]))
    except IsolationError as error:
        print(f"IsolationError: {error}")
