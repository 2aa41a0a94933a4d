"""`%%agent` in a Python notebook: a script plays the model."""

from __future__ import annotations

import re
import sys

from tests.clients import Client

if sys.platform != "linux":
    collect_ignore_glob = ["test_*.py"]

SETUP = """
from sandbox_kernel.agents import ScriptedModel
call = {"name": "code_execution", "args": {"language": "python", "code": "print(6 * 7)"}}
turns = [[call], "It is 42."]
def price(name: str) -> float:
    return 2.5
"""


def test_events_are_shown_as_they_come_and_the_answer_is_kept(notebook: Client) -> None:
    notebook.run(SETUP).check()
    done = notebook.run("%%agent --code python --script turns --into answer\ncompute it").check()
    assert re.sub(r"\x1b\[[0-9;]*m", "", done.stdout) == (
        "→ code_execution python\nprint(6 * 7)\n"
        "← code_execution [ok]:\n42\n[exit 0: ok]\nIt is 42.\n"
    )
    assert notebook.run("answer").check().text == "'It is 42.'"


def test_a_session_goes_on_with_a_model_of_ones_own(notebook: Client) -> None:
    notebook.run(SETUP).check()
    notebook.run("mine = ScriptedModel(['first', 'second'])").check()
    for prompt in ("one", "two"):
        notebook.run(f"%%agent --model mine --session s\n{prompt}").check()
    said = notebook.run("[m['content'] for m in mine.asked[1]]").check()
    assert said.text == "['one', 'first', 'two']"


def test_it_asks_and_tools_are_python_functions(notebook: Client) -> None:
    notebook.run(SETUP).check()
    notebook.run("shop = [[{'name': 'price', 'args': {'name': 'tea'}}], 'ok']").check()
    for answer, said in (("y", "2.5"), ("no", "not allowed")):
        sent = notebook.send(
            "%%agent --tool price --code none --ask --script shop\nhow much?", allow_stdin=True
        )
        question = notebook.channels.get_stdin_msg(timeout=60)["content"]["prompt"]
        assert "price asks for permission: price({'name': 'tea'})" in question
        notebook.channels.input(answer)
        assert said in notebook.finish(sent).check().stdout


def test_a_cell_that_blocks_the_notebook_is_not_allowed_what_it_asks_for(notebook: Client) -> None:
    notebook.run(SETUP).check()
    notebook.run("shop = [[{'name': 'price', 'args': {'name': 'tea'}}], 'ok']").check()
    blocking = "%%time\n%%agent --tool price --code none --ask --script shop\nhow much?"
    assert "this cell blocks the notebook" in notebook.run(blocking, allow_stdin=True).stdout


def test_an_interrupt_ends_it_and_a_wrong_model_is_refused(notebook: Client) -> None:
    notebook.run(SETUP).check()
    notebook.run("call['args']['code'] = 'print(1, flush=True)\\nwhile True: pass'").check()
    sent = notebook.send("%%agent --code python --script turns\nx")
    notebook.wait_for_output(sent, "while")
    notebook.signal()
    done = notebook.finish(sent)
    assert (done.content["ename"], done.content["evalue"]) == ("terminated", "interrupted")
    done = notebook.run("%%agent --model price\nx")
    assert "is not a model" in done.traceback
    assert notebook.run("%agent?").check().status == "ok"
