"""While a cell runs: interrupt, Terminate, background runs, and where a cell cannot be awaited."""

from __future__ import annotations

import time

import pytest

from tests.magic.client import Message, PythonNotebook

SLEEP = "import asyncio, time\nasync def sleep(ms): await asyncio.sleep(ms / 1000)\n"


def _interrupted(notebook: PythonNotebook, cell: str) -> None:
    sent = notebook.start(cell)
    time.sleep(0.5)
    notebook.interrupt()
    outcome = notebook.finish(sent, timeout=15)
    assert outcome.reply["ename"] == "terminated"
    assert outcome.reply["evalue"] == "interrupted"
    assert notebook.run("%%runcode\n1 + 1").check().text == "2"


@pytest.mark.parametrize(
    "body",
    [
        "for (;;) {}",
        "/^(a+)+$/.test('a'.repeat(40) + 'b')",
        "await sleep(60_000)",
        "nap()",
    ],
    ids=["loop", "regex", "async bridge", "blocking bridge"],
)
def test_keyboard_interrupt_terminates_the_run(notebook: PythonNotebook, body: str) -> None:
    notebook.run(SLEEP + "def nap(): time.sleep(60)").check()
    _interrupted(notebook, f"%%runcode --global sleep --global nap\n{body}")


def test_an_interrupted_run_is_kept_too(notebook: PythonNotebook) -> None:
    _interrupted(notebook, "%%runcode --into r\nreport(1); for (;;) {}")
    assert notebook.run("r.status, r.reports").check().text == "('terminated', [1])"


def test_python_cells_are_interrupted_as_ever_afterwards(notebook: PythonNotebook) -> None:
    notebook.run("%%runcode\n1").check()
    sent = notebook.start("import time\ntime.sleep(60)")
    time.sleep(0.5)
    notebook.interrupt()
    assert notebook.finish(sent, timeout=15).reply["ename"] == "KeyboardInterrupt"


def test_the_terminate_button_is_heard_while_the_cell_runs(notebook: PythonNotebook) -> None:
    def press(message: Message) -> None:
        if message["msg_type"] == "display_data":
            view = message["content"]["data"]["application/vnd.jupyter.widget-view+json"]
            notebook.send_comm(view["model_id"], {"kind": "terminate"})

    sent = notebook.start("%%runcode\nreport('started'); for (;;) {}")
    outcome = notebook.finish(sent, timeout=15, seen=press)
    assert outcome.reply["evalue"] == "Terminate button"


def test_a_quiet_run_shows_its_view_after_half_a_second(notebook: PythonNotebook) -> None:
    notebook.run(SLEEP).check()
    assert notebook.run("%%runcode --global sleep\nawait sleep(20)").check().displays == []
    assert notebook.run("%%runcode --global sleep\nawait sleep(900)").check().displays != []


def test_a_background_run_returns_at_once_and_is_a_live_handle(notebook: PythonNotebook) -> None:
    notebook.run(SLEEP).check()
    body = "for (let i = 0; i < 3; i++) { report(i); await sleep(200) }\nexport default 'done'"
    outcome = notebook.run(f"%%runcode --background --into job --global sleep\n{body}").check()
    assert outcome.result is None
    assert notebook.run("job.running").check().text == "True"
    shown = notebook.run("r = await job\n[r.result, list(job.reports), job.running]").check()
    assert shown.text == "['done', [0, 1, 2], False]"


def test_a_background_run_without_a_name_is_the_cells_value(notebook: PythonNotebook) -> None:
    outcome = notebook.run("%%runcode --background\nfor (;;) {}").check()
    assert outcome.text is not None
    assert "running" in outcome.text
    assert notebook.run("_.terminate('enough'); (await _).error.message").check().text == (
        "'enough'"
    )


def test_a_background_run_that_fails_says_so_under_its_cell(notebook: PythonNotebook) -> None:
    sent = notebook.start("%%runcode --background --into job\nthrow new RangeError('no')")
    said = notebook.finish(sent).check().stderr + notebook.later(sent, 1.0).stderr
    assert "RangeError: no" in said


def test_a_background_run_is_watched_under_its_own_cell(notebook: PythonNotebook) -> None:
    notebook.run(SLEEP).check()
    body = "for (let i = 0; i < 5; i++) { report(i); await sleep(100) }"
    sent = notebook.start(f"%%runcode --background --into job --global sleep\n{body}")
    notebook.finish(sent).check()
    last = notebook.later(sent, 2.0).displays[-1]["text/plain"]
    assert "5 reports" in last


def test_several_runs_at_once_share_their_time(notebook: PythonNotebook) -> None:
    notebook.run(SLEEP).check()
    for name in "abcd":
        cell = f"%%runcode --background --into {name} --global sleep\nawait sleep(400); '{name}'"
        notebook.run(cell).check()
    began = time.monotonic()
    shown = notebook.run(
        "[r.result for r in await asyncio.gather(*map(asyncio.ensure_future, [a, b, c, d]))]"
    )
    assert shown.check().text == "['a', 'b', 'c', 'd']"
    print(f"four runs of 0.4 s: {time.monotonic() - began:.2f} s")


@pytest.mark.parametrize("around", ["%%time", "%%capture seen"])
def test_it_works_inside_another_cell_magic(notebook: PythonNotebook, around: str) -> None:
    notebook.run(f"{around}\n%%runcode --into r --global n=20\nconsole.log('x'); n + 1").check()
    assert notebook.run("r.result").check().text == "21"


def test_python_code_may_call_the_magic(notebook: PythonNotebook) -> None:
    call = "get_ipython().run_cell_magic('runcode', '--global n=1', 'n + 1').result"
    assert notebook.run(call).check().text == "2"


def test_it_blocks_where_autoawait_is_off(notebook: PythonNotebook) -> None:
    notebook.run("%autoawait False").check()
    try:
        notebook.run(SLEEP).check()
        cell = "%%runcode --global sleep\nreport(1); await sleep(50); 'slept'"
        assert notebook.run(cell).check().text == "'slept'"
        _interrupted(notebook, "%%runcode\nfor (;;) {}")
    finally:
        notebook.run("%autoawait True").check()


def test_a_flood_of_console_lines_arrives_whole_and_in_order(notebook: PythonNotebook) -> None:
    outcome = notebook.run("%%runcode\nfor (let i = 0; i < 10000; i++) console.log(i)").check()
    assert outcome.stdout == "".join(f"{at}\n" for at in range(10_000))


def test_a_hundred_thousand_reports_are_counted_exactly(notebook: PythonNotebook) -> None:
    cell = "%%runcode --into r\nfor (let i = 0; i < 100000; i++) report({i})"
    outcome = notebook.run(cell, timeout=120).check()
    assert outcome.displays[-1]["text/plain"].startswith("Run: success")
    assert "100,000 reports" in outcome.displays[-1]["text/plain"]
    assert notebook.run("len(r.reports), r.reports[-1]").check().text == "(100000, {'i': 99999})"
    updates = outcome.contents("comm_msg")
    size = sum(len(repr(each)) for each in updates)
    print(f"{len(updates)} updates, {size:,} characters")
    assert size < 5_000_000
