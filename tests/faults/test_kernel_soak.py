"""Cell after cell with a live view, in a real kernel: its memory stays flat, and `%reset` frees the rest.

`make test` runs a few dozen of them; `make soak` a thousand.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import NamedTuple

import pytest

from tests.clients import Client

pytestmark = pytest.mark.scaled
CELLS = 1_000 if "SANDBOX_SOAK_SECONDS" in os.environ else 60
WARM_UP = 30  # more than the views that are kept for pages that are loaded again
REPORTED = 1 << 20  # bytes that each cell reports, logs and returns, about
FLAT = 24 << 20  # bytes; every cell that is not let go of would be a megabyte more

CENSUS = """%%bridge census
import gc, re
NAMES = ("CodeExecution", "RunView", "RunWidget", "CodeExecutionResult", "Conversation")
def held():
    gc.collect()
    found = [type(each).__name__ for each in gc.get_objects()]
    with open("/proc/self/status") as status:
        resident = int(re.search(r"VmRSS:\\s*(\\d+)", status.read())[1]) * 1024
    return [resident, *map(found.count, NAMES)]
"""
BUSY = f"""
for (let i = 0; i < 16; i++) report({{ progress: i / 16, text: String(i).padEnd({REPORTED // 32}, 'x') }});
console.log('y'.repeat(1000));
'z'.padEnd({REPORTED // 2}, 'z').length
"""


class Held(NamedTuple):
    """What the kernel has: resident bytes, and objects of these classes."""

    resident: int
    runs: int
    views: int
    widgets: int
    results: int
    conversations: int


@pytest.fixture(scope="module")
def kernel() -> Iterator[Client]:
    client = Client.start("sandbox")
    yield client
    client.close()


def held(kernel: Client) -> Held:
    kernel.run(CENSUS).check()
    return Held(*eval(kernel.value("import { held } from 'census'; held()") or ""))


def test_many_cells_with_views_keep_the_kernels_memory_flat(kernel: Client) -> None:
    for _ in range(WARM_UP):
        kernel.run(BUSY).check()
    before = held(kernel)
    for _ in range(CELLS):
        kernel.run(BUSY).check()
    after = held(kernel)
    print(f"{CELLS} cells: {(after.resident - before.resident) / 2**20:+.1f} MB, {after}")
    assert after.resident - before.resident < FLAT
    assert after.widgets <= before.widgets <= 21
    only_the_newest_run(after)


def only_the_newest_run(found: Held) -> None:
    """The one that asks, and the one before."""
    assert max(found.runs, found.conversations, found.results) <= 2
    assert found.views <= 1


def test_a_reset_frees_every_view(kernel: Client) -> None:
    kernel.run(BUSY).check()
    assert held(kernel).widgets > 0
    kernel.run("%reset").check()
    freed = held(kernel)
    assert freed.widgets <= 1
    only_the_newest_run(freed)
