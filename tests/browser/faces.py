"""The same cells in both faces: %%runcode means the same in a Python notebook and in the kernel."""

from __future__ import annotations

from dataclasses import dataclass

import pytest

_SLEEP = "import asyncio\nasync def sleep(ms):\n    await asyncio.sleep(ms / 1000)\n"


@dataclass(frozen=True)
class Face:
    """A kernel, and the cells that make it ready: afterwards `timers` has a `sleep`."""

    name: str
    kernel: str
    setup: list[str]


MAGIC = Face("magic", "python3", ["%load_ext runcode", f"{_SLEEP}timers = {{'sleep': sleep}}"])
KERNEL = Face("kernel", "sandbox", [f"%%bridge timers\n{_SLEEP}"])

both_faces = pytest.mark.parametrize("face", [MAGIC, KERNEL], ids=lambda face: face.name)
# What both show is drawn by the same code: one face in `make test`, the other in `make soak`.
one_face = pytest.mark.parametrize(
    "face", [pytest.param(MAGIC, marks=pytest.mark.soak), KERNEL], ids=lambda face: face.name
)
