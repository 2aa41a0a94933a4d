"""`%%runprogram` in a Python notebook."""

from __future__ import annotations

import sys

import pytest

from tests.clients import Client
from tests.unit.test_pictures import PNG

if sys.platform != "linux":
    collect_ignore_glob = ["test_*.py"]


def test_output_streams_and_an_interrupt_ends_the_program(notebook: Client) -> None:
    sent = notebook.send("%%runprogram python --into run\nprint('going')\nwhile True: pass")
    notebook.wait_for_output(sent, "going")
    notebook.signal()
    done = notebook.finish(sent)
    assert (done.content["ename"], done.content["evalue"]) == ("terminated", "interrupted")
    assert notebook.run("run.stdout, run.killed").check().text == "('going\\n', True)"
    assert notebook.run("%%runprogram\nprint(2)").check().stdout == "2\n"


def test_sources_are_python_expressions(notebook: Client) -> None:
    notebook.run("rows = [1, 2]\ndef double(n: int) -> int: return 2 * n").check()
    line = "%%runprogram python --stdin 'str(len(rows))' --file rows.json=rows --tool double"
    code = "import json\nn = int(input())\nprint(json.load(open('rows.json')), call_tool('double', {'n': n}))"
    assert notebook.run(f"{line}\n{code}").check().stdout == "[1, 2] 4\n"


def test_files_are_listed_pictures_shown_and_the_result_is_kept(notebook: Client) -> None:
    code = f"open('a.png', 'wb').write({PNG!r})\nset_result({{'n': 1}}, files=['a.png'])"
    done = notebook.run(f"%%runprogram python --into run\n{code}").check()
    assert done.stdout == f"a.png  {len(PNG)} bytes\n"
    assert "image/png" in done.displays[0]
    assert done.text == "{'n': 1}"
    assert notebook.run("run.files[0].name").check().text == "'a.png'"


def test_a_traceback_is_the_error_of_the_cell(notebook: Client) -> None:
    done = notebook.run("%%runprogram python --into run\ndef f():\n    return 1 / 0\nf()")
    assert (done.content["ename"], done.content["evalue"]) == (
        "ZeroDivisionError", "division by zero",
    )  # fmt: skip
    assert 'File "program.py", line 3, in f' in done.traceback
    assert notebook.run("run.exit_code").check().text == "1"


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("--stdin nothing", "--stdin: nothing raised NameError"),
        ("--file a=object()", "give text, bytes or plain data"),
        ("--tool rows=[1]", "--tool rows must be a function"),
        ("--into 1x", "not a Python name"),
    ],
)
def test_a_wrong_option_is_an_error_before_anything_runs(
    notebook: Client, line: str, message: str
) -> None:
    done = notebook.run(f"%%runprogram python {line}\nprint('RAN')")
    assert (done.content["ename"], done.stdout) == ("OptionError", "")
    assert message in done.content["evalue"]


def test_it_blocks_where_nothing_can_await_it(notebook: Client) -> None:
    code = "get_ipython().run_cell_magic('runprogram', 'python', 'print(1)')"
    assert notebook.run(f"if True:\n    {code}").check().stdout == "1\n"


def test_languages_options_and_names_are_completed(notebook: Client) -> None:
    quick = "%config IPCompleter.use_jedi = False"  # which takes seconds; test_help.py has it
    notebook.run(f"{quick}\nsome_rows = 1").check()
    assert "node" in notebook.complete("%%runprogram no|")["matches"]
    assert "--session" in notebook.complete("%%runprogram python --ses|")["matches"]
    assert "some_rows" in notebook.complete("%%runprogram python --stdin some_|")["matches"]
    notebook.run(quick.replace("False", "True")).check()


def test_its_help_names_its_options(notebook: Client) -> None:
    assert "--packages A,B" in str(notebook.inspect("%runprogram|"))
