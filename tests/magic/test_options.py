"""Every option of the line, with Python expressions as sources."""

from __future__ import annotations

import pytest

from tests.clients import VIEW, Client

TOOLS = '''
import math, asyncio
class Store:
    """Lent as an object: its public methods and values."""
    size = 3
    _secret = "no"
    def __init__(self): self.items = ["a", "b"]
    def first(self): return self.items[0]
    async def later(self, value):
        await asyncio.sleep(0)
        return value
store = Store()
tools = {"shout": lambda text: text.upper(), "LIMIT": 5}
'''


def test_fn_and_args_choose_what_runs(notebook: Client) -> None:
    cell = "%%runcode --fn add --args [1, 2]\nexport const add = (a, b) => a + b;"
    assert notebook.run(cell).check().text == "3"


def test_fn_demands_the_export(notebook: Client) -> None:
    assert notebook.run("%%runcode --fn missing\n1").content["status"] == "error"


def test_a_dict_lends_what_is_in_it(notebook: Client) -> None:
    notebook.run(TOOLS).check()
    cell = "%%runcode --import tools\nimport { shout, LIMIT } from 'tools';\n[shout('x'), LIMIT]"
    assert notebook.run(cell).check().text == "[ 'X', 5 ]"


def test_a_module_lends_its_public_functions_and_values(notebook: Client) -> None:
    notebook.run("import math").check()
    cell = "%%runcode --import m=math\nimport { sqrt, pi } from 'm';\n[sqrt(9), pi > 3]"
    assert notebook.run(cell).check().text == "[ 3, true ]"


def test_an_object_lends_its_public_methods_and_values(notebook: Client) -> None:
    notebook.run(TOOLS).check()
    cell = (
        "%%runcode --import s=store\nimport * as s from 's';\n"
        "[Object.keys(s).sort(), s.first(), s.size, await s.later(7)]"
    )
    shown = notebook.run(cell).check().data
    assert shown is not None
    assert shown["application/json"] == [["first", "items", "later", "size"], "a", 3, 7]


def test_globals_are_names_or_expressions(notebook: Client) -> None:
    notebook.run("rows = [{'a': 1}, {'a': 2}]").check()
    cell = "%%runcode --global rows --global limit=10 --global n=(len(rows) + 1)\n[rows, limit, n]"
    shown = notebook.run(cell).check().data
    assert shown is not None
    assert shown["application/json"] == [[{"a": 1}, {"a": 2}], 10, 3]


def test_an_expression_may_hold_braces_and_spaces(notebook: Client) -> None:
    cell = '%%runcode --global f={"a": [1, 2]} --global g="a b"\n[f.a.length, g]'
    assert notebook.run(cell).check().text == "[ 2, 'a b' ]"


def test_a_module_comes_from_a_variable(notebook: Client) -> None:
    notebook.run("src = 'export const add = (a: number, b: number) => a + b;'").check()
    cell = "%%runcode --module ./math.ts=src\nimport { add } from './math.ts';\nadd(1, 2)"
    assert notebook.run(cell).check().text == "3"


def test_runmodule_keeps_a_module_for_later_cells(notebook: Client) -> None:
    notebook.run("%%runmodule ./kept.ts\nexport const kept: string = 'yes';").check()
    cell = "%%runcode\nimport { kept } from './kept.ts';\nkept"
    assert notebook.run(cell).check().text == "'yes'"
    refused = notebook.run("%%runmodule kept.ts\nexport const kept = 1;")
    assert "kept.ts is not a relative path; write %%runmodule ./kept.ts" in refused.traceback


def test_language_javascript_takes_no_types(notebook: Client) -> None:
    cell = "%%runcode --language javascript\nconst x: number = 1;"
    assert notebook.run(cell).content["status"] == "error"


def test_memory_limits_the_heap(notebook: Client) -> None:
    body = "const a = [];\nfor (;;) a.push('x'.repeat(1000) + a.length);"
    cell = f"%%runcode --memory 8MiB --into r\n{body}"
    assert notebook.run(cell).content["status"] == "error"
    assert notebook.run("r.status").check().text == "'memory'"


def test_filename_is_the_name_in_errors(notebook: Client) -> None:
    outcome = notebook.run("%%runcode --filename scan.ts\nmissing")
    assert "scan.ts:2" in outcome.traceback


def test_deadline_terminates_with_its_reason(notebook: Client) -> None:
    outcome = notebook.run("%%runcode --deadline 100ms\nfor (;;) {}")
    assert outcome.content["ename"] == "terminated"
    assert outcome.content["evalue"] == "100ms budget"


def test_into_keeps_the_whole_result_and_still_shows_it(notebook: Client) -> None:
    assert notebook.run("%%runcode --into r\nconsole.log('x'); 42").check().text == "42"
    shown = notebook.run("[type(r).__name__, r.status, r.result, len(r.logs)]").check().text
    assert shown == "['CodeExecutionResult', 'success', 42, 1]"


def test_into_keeps_a_failed_result_too(notebook: Client) -> None:
    assert notebook.run("%%runcode --into r\nthrow new RangeError('no')").content["ename"] == (
        "RangeError"
    )
    assert notebook.run("r.status, r.error.message").check().text == "('error', 'no')"
    assert notebook.run("r").check().text == "error: RangeError: no"


def test_raw_displays_nothing(notebook: Client) -> None:
    outcome = notebook.run("%%runcode --raw --into r\nreport(1); console.log('x'); 42").check()
    assert (outcome.data, outcome.displays, outcome.stdout) == (None, [], "")
    assert notebook.run("r.result, r.reports, len(r.logs)").check().text == "(42, [1], 1)"


def test_no_widget_shows_no_view(notebook: Client) -> None:
    outcome = notebook.run("%%runcode --no-widget\nreport(1); 42").check()
    assert outcome.text == "42"
    assert outcome.displays == []


def test_reports_open_a_view_whose_text_lists_them(notebook: Client) -> None:
    outcome = notebook.run("%%runcode\nreport({a: 1}); report('two'); 3").check()
    assert VIEW in outcome.displays[0]
    listed = outcome.displays[-1]["text/plain"].split("\n")
    assert listed[0].startswith("Run: success after ")
    assert listed[1:] == ["[0] { a: 1 }", "[1] 'two'"]


def test_the_line_may_continue_and_positions_stay_those_of_the_cell(notebook: Client) -> None:
    notebook.run("a, b = 1, 2").check()
    cell = "%%runcode --global a \\\n    --global b\n"
    assert notebook.run(cell + "a + b").check().text == "3"
    assert ":4:1" in notebook.run(cell + "\nnope()").traceback


def test_a_broken_module_is_told_about_at_once(notebook: Client) -> None:
    notebook.run("%%runmodule ./ok.ts\nexport const x = 1").check()
    broken = notebook.run("%%runmodule ./ok.ts\nexport const x = )")
    assert broken.content["ename"] == "SyntaxError"
    assert "./ok.ts:1:18" in broken.traceback
    assert notebook.run("%%runcode\nimport { x } from './ok.ts'; x").check().text == "1"
    notebook.run('%%runmodule ./data.json\n{"a": 1}').check()
    cell = "%%runcode\nimport data from './data.json' with { type: 'json' }; data.a"
    assert notebook.run(cell).check().text == "1"


def test_keep_is_for_the_kernel_and_into_is_named(notebook: Client) -> None:
    assert "here, --into NAME keeps the result" in notebook.run("%%runcode --keep a\n1").traceback


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("--import json", "import it first: import json"),
        ("--global nope", "name 'nope' is not defined"),
        ("--import no_such_module", "NameError"),
        ("--timeout 3s", "did you mean --deadline?"),
        ("--out x", "did you mean --into?"),
    ],
)
def test_mistakes_in_options_get_the_right_answer(notebook: Client, line: str, said: str) -> None:
    traceback = notebook.run(f"%%runcode {line}\n1").traceback
    assert said in traceback
    assert "did you mean open" not in traceback


def test_a_class_and_a_name_of_another_cell_are_explained(notebook: Client) -> None:
    notebook.run("import types\nshapes = types.SimpleNamespace(Point=type('Point', (), {}), nt=1)")
    lent = notebook.run("%%runcode --import shapes\nimport { Point } from 'shapes'").traceback
    assert "Point is a class, and classes cannot be lent" in lent.replace("\n      ", " ")
    notebook.run("%%runcode\nconst secondCell = 1")
    missing = notebook.run("%%runcode\nsecondCell").traceback.replace("\n      ", " ")
    assert "each cell is a fresh sandbox: secondCell was declared in cell" in missing


def test_a_variable_of_the_notebook_is_lent_by_name(notebook: Client) -> None:
    notebook.run("import math\norders = [1, 2]\nclass Order: pass")
    missing = notebook.run("%%runcode\norders.length").traceback.replace("\n      ", " ")
    assert (
        "orders is a variable of this notebook; lend it to the cell with --global orders" in missing
    )
    for name in ("math", "Order", "In", "exit"):
        assert "variable of this notebook" not in notebook.run(f"%%runcode\n{name}").traceback


def test_python_that_begins_with_an_import_is_recognised(notebook: Client) -> None:
    assert "this looks like Python" in notebook.run("%%runcode\nimport os").traceback
