"""Places that wait for programs: Python's always; one of Node's or Deno's, once such a program was run.

A waiting Node takes some 40 MB, a waiting Python one or two, and so does what becomes a Deno.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable
from typing import NamedTuple

from .place import Place
from .protocol import Limits
from .runtimes import DENO, NODE, PYTHON
from .zygote import ZygoteProcess

ALL = (PYTHON, NODE, DENO)


class Spare(NamedTuple):
    """A place that waits for a program, and where it comes from."""

    place: Place
    zygote: ZygoteProcess


class Spares:
    """Everything here is called under the pool's lock."""

    def __init__(self) -> None:
        self._of: dict[str, deque[Spare]] = {runtime: deque() for runtime in ALL}
        self._used: set[str] = {PYTHON}

    def __len__(self) -> int:
        return sum(map(len, self._of.values()))

    def take(self, runtime: str, limits: Limits) -> Spare | None:
        """One that has exactly these limits."""
        self._used.add(runtime)
        waiting = self._of[runtime]
        return waiting.popleft() if waiting and waiting[0].place.limits == limits else None

    def add(self, runtime: str, spare: Spare) -> None:
        self._of[runtime].append(spare)

    def missing(
        self, wanted: int, is_failing: Callable[[str], bool], runtimes: Iterable[str] = ALL
    ) -> str | None:
        """The runtime of which there are too few; `wanted` is how many of Python's there should be."""
        for runtime in runtimes:
            waiting = self._of[runtime]
            count = wanted if runtime == PYTHON else min(wanted, 1)
            if runtime in self._used and len(waiting) < count and not is_failing(runtime):
                return runtime
        return None

    def drop(self, zygote: ZygoteProcess | None = None) -> list[Spare]:
        """Those of a zygote, or all of them; they are no spares any more."""
        dropped = []
        for waiting in self._of.values():
            gone = [spare for spare in waiting if zygote is None or spare.zygote is zygote]
            dropped += gone
            for spare in gone:
                waiting.remove(spare)
        return dropped
