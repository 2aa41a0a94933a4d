"""While a cell runs: interrupt, Terminate, background runs, and where a cell cannot be awaited."""

from __future__ import annotations

import pytest

from tests.clients import VIEW, Client
from tests.waiting import until

SLEEP = "import asyncio, time\nasync def sleep(ms): await asyncio.sleep(ms / 1000)\n"
FOREVER = (
    "import asyncio, time\n"
    "async def sleep(): print('going'); await asyncio.sleep(600)\n"
    "def nap(): print('going'); time.sleep(600)\n"
)
GATE = "import asyncio\ndoor = asyncio.Event()\nasync def enter(): await door.wait()\n"


def _interrupted(notebook: Client, cell: str) -> None:
    """Interrupt a cell once it has printed `going`."""
    sent = notebook.send(cell)
    notebook.wait_for_output(sent, "going")
    notebook.signal()
    outcome = notebook.finish(sent)
    assert outcome.content["ename"] == "terminated"
    assert outcome.content["evalue"] == "interrupted"
    assert notebook.run("%%runcode\n1 + 1").check().text == "2"


@pytest.mark.parametrize(
    "body",
    [
        "console.log('going'); for (;;) {}",
        "console.log('going'); /^(a+)+$/.test('a'.repeat(40) + 'b')",
        "await sleep()",
        "nap()",
    ],
    ids=["loop", "regex", "async bridge", "blocking bridge"],
)
def test_keyboard_interrupt_terminates_the_run(notebook: Client, body: str) -> None:
    notebook.run(FOREVER).check()
    _interrupted(notebook, f"%%runcode --global sleep --global nap\n{body}")


def test_an_interrupted_run_is_kept_too(notebook: Client) -> None:
    _interrupted(notebook, "%%runcode --into r\nreport(1); console.log('going'); for (;;) {}")
    assert notebook.run("r.status, r.reports").check().text == "('terminated', [1])"


def test_python_cells_are_interrupted_as_ever_afterwards(notebook: Client) -> None:
    notebook.run("%%runcode\n1").check()
    sent = notebook.send("import time\nprint('going')\ntime.sleep(600)")
    notebook.wait_for_output(sent, "going")
    notebook.signal()
    assert notebook.finish(sent).content["ename"] == "KeyboardInterrupt"


def test_the_terminate_button_is_heard_while_the_cell_runs(notebook: Client) -> None:
    sent = notebook.send("%%runcode\nreport('started'); for (;;) {}")
    shown = notebook.wait_for(sent, "display_data")
    notebook.press_terminate(shown["data"])
    assert notebook.finish(sent).content["evalue"] == "Terminate button"


def test_a_quiet_run_that_lasts_shows_its_view(notebook: Client) -> None:
    sent = notebook.send("%%runcode\nfor (;;) {}")
    shown = notebook.wait_for(sent, "display_data")
    assert VIEW in shown["data"]
    notebook.press_terminate(shown["data"])
    assert notebook.finish(sent).content["ename"] == "terminated"


def test_the_view_is_shown_while_a_bridge_blocks_the_loop(notebook: Client) -> None:
    notebook.run(FOREVER).check()
    sent = notebook.send("%%runcode --global nap\nnap()")
    assert VIEW in notebook.wait_for(sent, "display_data")["data"]
    notebook.signal()
    assert notebook.finish(sent).content["evalue"] == "interrupted"


def test_a_background_run_returns_at_once_and_is_a_live_handle(notebook: Client) -> None:
    notebook.run(GATE).check()
    body = "report(0); await enter(); report(1)\nexport default 'done'"
    outcome = notebook.run(f"%%runcode --background --into handle --global enter\n{body}").check()
    assert outcome.data is None
    assert notebook.run("handle.running").check().text == "True"
    shown = notebook.run(
        "door.set()\nr = await handle\n[r.result, list(handle.reports), handle.running]"
    )
    assert shown.check().text == "['done', [0, 1], False]"


def test_a_background_run_without_a_name_is_the_cells_value(notebook: Client) -> None:
    outcome = notebook.run("%%runcode --background\nfor (;;) {}").check()
    assert outcome.text is not None
    assert "running" in outcome.text
    assert notebook.run("_.terminate('enough'); (await _).error.message").check().text == (
        "'enough'"
    )


def test_a_background_run_that_fails_says_so_under_its_cell(notebook: Client) -> None:
    sent = notebook.send("%%runcode --background --into handle\nthrow new RangeError('no')")
    notebook.finish(sent).check()
    notebook.wait_for_output(sent, "RangeError: no")


def test_a_background_run_is_watched_under_its_own_cell(notebook: Client) -> None:
    notebook.run(SLEEP).check()
    body = "for (let i = 0; i < 5; i++) { report(i); await sleep(100) }"
    sent = notebook.send(f"%%runcode --background --into handle --global sleep\n{body}")
    notebook.finish(sent).check()
    notebook.wait_for(
        sent, "update_display_data", lambda shown: "5 reports" in shown["data"]["text/plain"]
    )


def test_a_deadline_ends_a_background_run_too(notebook: Client) -> None:
    cell = "%%runcode --background --into handle --deadline 100ms\nfor (;;) {}"
    notebook.run(cell).check()
    assert notebook.run("(await handle).error.message").check().text == "'100ms budget'"


def test_several_runs_go_on_at_once(notebook: Client) -> None:
    """Each waits until all four have begun."""
    notebook.run(
        f"{GATE}arrived = []\nasync def meet():\n    arrived.append(1)\n"
        "    if len(arrived) == 4: door.set()\n    await enter()\n"
    ).check()
    for name in "abcd":
        cell = f"%%runcode --background --into {name} --global meet\nawait meet(); '{name}'"
        notebook.run(cell).check()
    shown = notebook.run("[(await each).result for each in (a, b, c, d)]")
    assert shown.check().text == "['a', 'b', 'c', 'd']"


@pytest.mark.parametrize("around", ["%%time", "%%capture seen"])
def test_it_works_inside_another_cell_magic(notebook: Client, around: str) -> None:
    notebook.run(f"{around}\n%%runcode --into r --global n=20\nconsole.log('x'); n + 1").check()
    assert notebook.run("r.result").check().text == "21"


def test_python_code_may_call_the_magic(notebook: Client) -> None:
    call = "get_ipython().run_cell_magic('runcode', '--global n=1', 'n + 1').result"
    assert notebook.run(call).check().text == "2"


def test_it_blocks_where_autoawait_is_off(notebook: Client) -> None:
    notebook.run("%autoawait False").check()
    try:
        notebook.run(SLEEP).check()
        cell = "%%runcode --global sleep\nreport(1); await sleep(50); 'slept'"
        assert notebook.run(cell).check().text == "'slept'"
        _interrupted(notebook, "%%runcode\nconsole.log('going'); for (;;) {}")
    finally:
        notebook.run("%autoawait True").check()


def test_a_hundred_thousand_reports_are_counted_exactly(notebook: Client) -> None:
    cell = "%%runcode --into r\nfor (let i = 0; i < 100000; i++) report({i})"
    outcome = notebook.run(cell).check()
    assert outcome.displays[-1]["text/plain"].startswith("Run: success")
    assert "100,000 reports" in outcome.displays[-1]["text/plain"]
    assert notebook.run("len(r.reports), r.reports[-1]").check().text == "(100000, {'i': 99999})"
    updates = outcome.all("comm_msg")
    size = sum(len(repr(each)) for each in updates)
    print(f"{len(updates)} updates, {size:,} characters")
    assert size < 5_000_000


def test_runs_lists_background_runs_also_those_without_a_handle(notebook: Client) -> None:
    assert until(lambda: notebook.run("%runs").check().stdout == "no runs\n")
    for _ in range(2):  # the second takes the first one's name
        notebook.run("%%runcode --background --into job --no-widget\nfor (;;) {}").check()
    listed = notebook.run("%runs").check().stdout.splitlines()
    assert [line.split()[0] for line in listed] == ["executing", "executing"]
    assert all(line.split()[-1].startswith("cell-") for line in listed)
    refused = notebook.run("%runs stop")
    assert "%runs cannot do 'stop'; did you mean terminate?" in refused.traceback
    assert notebook.run("%runs terminate").check().stdout == "terminated: 2 runs\n"
    assert notebook.run("(await job).error.message").check().text == "'%runs terminate'"
    assert until(lambda: notebook.run("%runs").check().stdout == "no runs\n")
