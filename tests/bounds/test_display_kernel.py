"""Whatever a guest reports, logs, throws or returns, a real kernel ends the cell and goes on."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.clients import Client, Done

MOST = 300_000  # characters of one output
MOST_IN_ALL = 1_500_000  # of all that one of these cells sends
ENDLESS = "let x: any = [1]; for (let i = 0; i < 60; i++) x = [x, x];"
GROUPS = "for (let i = 0; i < 1e6; i++) console.group();"

CELLS = {
    "a message that is one long word": "throw new ReferenceError('a'.repeat(2e6))",
    "groups in groups": f"{GROUPS} console.log('\\n'.repeat(1000))",
    "an error that is shared": "console.log(Array(2000).fill(new Error('x'.repeat(1e6))))",
    "errors as arguments": "console.log(...Array(2000).fill(new Error('x'.repeat(1e6))))",
    "a result that is all escapes": "Array(100).fill(Array(100).fill('\\x1b'.repeat(9999)))",
    "huge keys": "Array(100).fill({ ['k'.repeat(1e6)]: 1 })",
    "a table of an endless key": f"{ENDLESS} console.table(new Map([[x, 1]]))",
    "a table of wide rows": "console.table(Array(1000).fill(Array(1e5).fill(0)))",
    "a shared object of many keys": (
        "const o = Object.fromEntries(Array.from({ length: 5e4 }, (_, i) => ['k' + i, i]));"
        "Array(10000).fill(o)"
    ),
    "records that are one object": "Array(2e5).fill({ a: 1 })",
    "an endless result": f"{ENDLESS} x",
    "an endless report": f"{ENDLESS} report(x); report(new Map([[x, x]])); 1",
    "a label that is a huge number": "report({ progress: 1, label: 10n ** 5000n }); 1",
    "a table with a huge number for a key": "console.table(new Map([[10n ** 50000n, 1]]))",
    "a huge number": "10n ** 50000n",
    "reports of long texts": "for (let i = 0; i < 50; i++) report(Array(9).fill('y'.repeat(9e3)))",
    "a format with many arguments": "console.log('%s'.repeat(1e5), ...Array(60000).fill(1))",
}


@pytest.fixture(scope="module")
def kernel() -> Iterator[Client]:
    client = Client.start("sandbox")
    yield client
    client.close()


def texts(done: Done) -> list[str]:
    """Every text that a reader or a notebook's file gets."""
    shown = [data["text/plain"] for data in done.displays]
    shown += [done.stdout, done.stderr, done.text or ""]
    return [*shown, *("\n".join(error["traceback"]) for error in done.all("error"))]


@pytest.mark.parametrize("name", CELLS)
def test_the_cell_ends_its_output_is_bounded_and_the_next_one_works(
    kernel: Client, name: str
) -> None:
    done = kernel.run(CELLS[name])
    assert done.status == ("error" if CELLS[name].startswith("throw") else "ok")
    assert max(map(len, texts(done))) <= MOST
    assert sum(len(str(message["content"])) for message in done.messages) <= MOST_IN_ALL
    assert "Traceback" not in done.stderr
    assert kernel.value("1 + 1") == "2"


def test_an_interrupt_is_answered_while_values_are_shown(kernel: Client) -> None:
    msg_id = kernel.send(
        f"{ENDLESS} for (;;) {{ console.log(x); console.table([[x]]); report(x) }}"
    )
    kernel.wait_for(msg_id, "stream")
    kernel.interrupt()
    done = kernel.finish(msg_id)
    assert done.traceback.startswith("terminated")
    assert kernel.value("1 + 1") == "2"


CENSUS = """%%bridge census
import gc
def alive():
    gc.collect()
    names = [type(each).__name__ for each in gc.get_objects()]
    return [names.count(name) for name in ("CodeExecution", "RunView", "RunWidget")]
"""


def test_the_kernel_lets_go_of_runs_that_had_a_view(kernel: Client) -> None:
    kernel.run(CENSUS).check()
    for _ in range(30):
        kernel.run("report('x'.repeat(1e5)); 1").check()
    runs, views, widgets = eval(kernel.value("import { alive } from 'census'; alive()") or "")
    assert runs <= 2  # the one that asks, and the one before
    assert views <= 1
    assert widgets <= 21
    kernel.run("%reset").check()
    kernel.run(CENSUS).check()
    assert eval(kernel.value("import { alive } from 'census'; alive()") or "")[2] <= 1
