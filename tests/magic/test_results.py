"""A cell's result, its console and its errors: as in the kernel, in a Python notebook."""

from __future__ import annotations

import pytest

from tests.clients import Client
from tests.markup import check_inert


def test_the_default_export_is_the_result(notebook: Client) -> None:
    outcome = notebook.run("%%runcode\nexport default { a: [1, 'x'], b: null }").check()
    assert outcome.data == {
        "text/plain": "{ a: [ 1, 'x' ], b: null }",
        "application/json": {"a": [1, "x"], "b": None},
    }


def test_without_an_export_the_last_expression_is(notebook: Client) -> None:
    assert notebook.run("%%runcode\nconst x: number = 6;\nx * 7").check().text == "42"


def test_a_cell_without_a_value_shows_nothing(notebook: Client) -> None:
    outcome = notebook.run("%%runcode\nconst x = 1;").check()
    assert outcome.data is None
    assert outcome.displays == []


def test_records_show_as_a_table(notebook: Client) -> None:
    outcome = notebook.run("%%runcode\n[{a: 1, b: 'x'}, {a: 2, b: 'y'}]").check()
    assert outcome.displays == []
    assert "│" in (outcome.text or "")
    assert outcome.data is not None
    assert "<table" in outcome.data["text/html"]


def test_underscore_is_the_whole_result(notebook: Client) -> None:
    notebook.run("%%runcode\n6 * 7").check()
    assert notebook.run("_.result + 1").check().text == "43"


def test_the_console_prints_while_it_runs(notebook: Client) -> None:
    outcome = notebook.run("%%runcode\nconsole.log('out', {a: 1}); console.warn('err')").check()
    assert outcome.stdout == "out { a: 1 }\n"
    assert outcome.stderr == "err\n"


def test_an_error_points_into_the_cell(notebook: Client) -> None:
    outcome = notebook.run("%%runcode\nconst a = 1;\nmissing(a)")
    assert outcome.content["status"] == "error"
    assert outcome.content["ename"] == "ReferenceError"
    traceback = outcome.traceback.split("\n")
    assert traceback[0].startswith("ReferenceError: ")
    assert any(line.endswith("3 | missing(a)") for line in traceback)
    assert any(line.strip().endswith("^") for line in traceback)
    assert "Traceback" not in outcome.traceback


def test_a_cell_is_named_by_the_number_beside_it(notebook: Client) -> None:
    outcome = notebook.run("%%runcode\nmissing()")
    assert f"cell-{outcome.content['execution_count']}.ts:2:1" in outcome.traceback


def test_a_link_error_names_what_could_be_imported(notebook: Client) -> None:
    notebook.run("tools = {'shout': str.upper}").check()
    outcome = notebook.run("%%runcode --import tools\nimport { x } from 'tolls';")
    assert "tolls" in outcome.traceback
    assert "did you mean 'tools'" in outcome.traceback


@pytest.mark.parametrize(
    ("line", "named"),
    [
        ("--imprt x", "--import"),
        ("--memory lots", "64MiB"),
        ("--global rwos", "rows"),
        ("--global @x", "--global @x=EXPRESSION"),
        ("--module ./a.ts=rows", "must be a string of source text, not list"),
        ("--module ./a.ts", "%%runmodule"),
        ("--into 1x", "Python name"),
        ("--args {}", "JSON array"),
        ("--fn", "--fn NAME"),
        ("--global rows=1/0", "ZeroDivisionError"),
    ],
)
def test_a_wrong_line_is_named_and_nothing_runs(notebook: Client, line: str, named: str) -> None:
    notebook.run("rows = [1]").check()
    outcome = notebook.run(f"%%runcode {line}\nconsole.log('ran')")
    assert outcome.content["ename"] == "OptionError"
    assert named in outcome.traceback
    assert len(outcome.content["traceback"]) == 1
    assert outcome.stdout == ""


def test_it_is_not_a_line_magic(notebook: Client) -> None:
    assert (
        "%runcode is not a line magic; start a cell with %%runcode"
        in notebook.run("%runcode --fn x").traceback
    )


def test_a_value_that_cannot_cross_is_named_by_its_path(notebook: Client) -> None:
    notebook.run("rows = [{'when': object()}]").check()
    outcome = notebook.run("%%runcode --global rows\nrows")
    assert outcome.content["ename"] == "SerializationError"
    assert "rows[0].when" in outcome.traceback


def test_nothing_the_sandbox_says_is_an_escape_or_reorders_text(notebook: Client) -> None:
    hostile = r"'\u001b[2J\u009b\u202e<img src=x onerror=alert(1)>\u0000'"
    for body in (
        f"console.log({hostile}); console.error({{[{hostile}]: {hostile}}})",
        f"({{[{hostile}]: [{hostile}]}})",
        f"report({hostile}); report({{[{hostile}]: 1, label: {hostile}, progress: 1}})",
        f"throw new Error({hostile})",
        f"const e = new Error(); e.name = {hostile}; throw e",
        f"class X {{ constructor() {{ this[{hostile}] = 1 }} }}; new X()",
    ):
        outcome = notebook.run(f"%%runcode\n{body}")
        said = repr([message["content"] for message in outcome.messages])
        for character in ("\\x1b", "\\x9b", "\\u202e", "\\x00"):
            # repr doubles the backslash of what was spelled out, and not of the character itself
            assert character not in said.replace("\\\\", ""), (body, character)
        for data in outcome.displays:
            check_inert(data.get("text/html", ""))


def test_a_small_tree_is_drawn_open(notebook: Client) -> None:
    outcome = notebook.run("%%runcode\n({ a: { b: 1 } })").check()
    (shown,) = outcome.all("execute_result")
    assert shown["metadata"] == {"application/json": {"expanded": True}}


def test_of_many_lines_the_first_and_the_last_are_shown(notebook: Client) -> None:
    outcome = notebook.run("%%runcode\nfor (let i = 0; i < 3000; i++) console.log(i);").check()
    assert outcome.stdout.startswith("0\n1\n")
    assert outcome.stdout.count("\n") == 1_050
    assert outcome.stdout.endswith("2999\n")
    assert outcome.stderr == "… 1,950 more lines, not shown\n"
