"""`%%runcode`, `%%bridge`, `%%module` and the line magics, over Jupyter."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.clients import Client
from tests.waiting import until


@pytest.fixture(autouse=True)
def forget(kernel: Client) -> None:
    kernel.run("%reset")


@pytest.mark.parametrize(
    ("options", "code", "text"),
    [
        ("--fn inc --args [41]", "export const inc = (n: number) => n + 1", "42"),
        ("--args [1, 2]", "export default (a, b) => [b, a]", "[ 2, 1 ]"),
        ("--fn answer", "export const answer = 42", "42"),
        ('--import cfg={"a": 1}', "import { a } from 'cfg'; a", "1"),
        ("--global limit=10", "limit + 1", "11"),
        ('--global a="x" --global b=[1]', "[a, b]", "[ 'x', [ 1 ] ]"),
        ("--module ./m.ts=\"export const x: number = 3\"", "import { x } from './m.ts'; x", "3"),
        ("--language javascript", "const a = 1; a", "1"),
        ("--filename dir/main.ts", "import.meta.url", "'sandbox:dir/main.ts'"),
    ],
)  # fmt: skip
def test_options_of_runcode(kernel: Client, options: str, code: str, text: str) -> None:
    assert kernel.value(f"%%runcode {options}\n{code}") == text


def test_fn_demands_its_export(kernel: Client) -> None:
    done = kernel.run("%%runcode --fn missing\n1")
    assert done.status == "error"
    assert "missing" in done.traceback
    done = kernel.run("%%runcode --fn default\nconst a = 1\na")
    assert done.status == "error"


def test_javascript_is_not_typescript(kernel: Client) -> None:
    assert kernel.run("%%runcode --language javascript\nconst a: number = 1").status == "error"


def test_memory_limits_the_heap(kernel: Client) -> None:
    done = kernel.run(
        "%%runcode --memory 8MiB\nconst a = []; for (;;) a.push('x'.repeat(1e5) + a.length)"
    )
    assert done.status == "error"
    assert "--memory" in done.traceback


def test_a_deadline_terminates_with_its_budget_as_reason(kernel: Client) -> None:
    done = kernel.run("%%runcode --deadline 100ms\nfor (;;) {}")
    assert (done.content["ename"], done.content["evalue"]) == ("terminated", "100ms budget")
    done = kernel.run("%%bridge slow\nimport time\ndef nap(): time.sleep(30)")
    done = kernel.run("%%runcode --deadline 0.1s\nimport { nap } from 'slow'; nap()")
    assert done.content["evalue"] == "0.1s budget"


def test_files_are_sources(kernel: Client, tmp_path: Path) -> None:
    path = tmp_path / "rows.json"
    path.write_text(json.dumps([{"a": 1}]))
    assert kernel.value(f"%%runcode --global rows=@{path}\nrows[0].a") == "1"


def test_positions_are_those_of_the_cell(kernel: Client) -> None:
    done = kernel.run("%%runcode --global a=1\n\n  nope()")
    assert ":3:3" in done.traceback


def test_a_bridge_lends_functions_and_values_to_later_cells(kernel: Client) -> None:
    done = kernel.run(
        "%%bridge shop\nimport asyncio\nVAT = 0.19\n"
        "def price(net):\n    print('pricing', net)\n    return round(net * (1 + VAT), 2)\n"
        "async def later(x):\n    await asyncio.sleep(0.01)\n    return x\n"
    )
    assert done.stdout == "shop: VAT, price(net), async later(x)\n"
    done = kernel.run("import { price, VAT } from 'shop'\n[price(100), VAT]")
    assert done.text == "[ 119, 0.19 ]"
    assert done.stdout == "pricing 100\n"
    assert kernel.value("import * as shop from 'shop'\nawait shop.later([1])") == "[ 1 ]"


def test_one_way_functions_of_a_bridge_give_nothing_back(kernel: Client) -> None:
    kernel.run(
        "%%bridge tell\nfrom sandbox_kernel import one_way\n"
        "@one_way\ndef note(x):\n    print('noted', x)\n    return 1"
    )
    done = kernel.run("import { note } from 'tell'; [note('a')]")
    assert done.text == "[ undefined ]"
    assert done.stdout == "noted a\n"


def test_bridges_have_other_names_if_a_cell_wants(kernel: Client) -> None:
    kernel.run("%%bridge t\ndef one(): return 1\nLIMIT = 5")
    assert kernel.value("%%runcode --import other=t\nimport { one } from 'other'; one()") == "1"
    assert kernel.value("%%runcode --global t\nt.one() + t.LIMIT") == "6"
    assert kernel.value("%%runcode --global f=t.one\nf()") == "1"


def test_an_error_in_a_bridge_function_is_an_error_in_the_cell(kernel: Client) -> None:
    kernel.run("%%bridge b\ndef bad(): raise KeyError('gone')")
    done = kernel.run("import { bad } from 'b'\n\nbad()")
    assert done.content["ename"] == "KeyError"
    assert ":3:" in done.traceback
    assert "in the bridge:" in done.traceback
    caught = "import { bad } from 'b'; try { bad() } catch (e) { e.name }"
    assert kernel.run(caught).status == "ok"


def test_a_failed_bridge_shows_a_python_traceback_and_the_former_one_stays(kernel: Client) -> None:
    kernel.run("%%bridge b\ndef f(): return 'first'")
    done = kernel.run("%%bridge b\nprint('trying')\nx = 1\n1 / 0")
    assert done.status == "error"
    assert done.stdout == "trying\n"
    assert done.content["ename"] == "ZeroDivisionError"
    assert done.traceback.startswith("Traceback (most recent call last):")
    assert 'File "<bridge b>", line 4' in done.traceback
    assert kernel.value("import { f } from 'b'; f()") == "'first'"


def test_a_bridge_that_lends_what_cannot_cross_is_refused_by_name(kernel: Client) -> None:
    done = kernel.run("%%bridge b\nimport threading\nlock = threading.Lock()")
    assert done.status == "error"
    assert "lock" in done.traceback


def test_a_module_is_there_for_later_cells(kernel: Client) -> None:
    done = kernel.run("%%module ./lib/math.ts\nexport const add = (a: number, b: number) => a + b")
    assert done.status == "ok"
    assert kernel.value("import { add } from './lib/math.ts'; add(1, 2)") == "3"
    assert kernel.run("%modules").stdout == "./lib/math.ts: 1 line\n"
    done = kernel.run("%%module math\nexport {}")
    assert done.status == "error"
    assert "%%module math is not a relative path; write %%module ./math.ts" in done.traceback


@pytest.mark.parametrize(
    ("source", "place"),
    [
        ("export const a = 1\nexport const f = (", "./bad.ts:2:19"),
        ("import { x } from 'not-yet-there'\nx +", "./bad.ts:2:4"),
        ("@d class A {}", "./bad.ts:1:1"),
    ],
)
def test_a_broken_module_is_told_about_at_once(kernel: Client, source: str, place: str) -> None:
    kernel.run("%%module ./bad.ts\nexport const a = 'former'")
    done = kernel.run(f"%%module ./bad.ts\n{source}")
    assert done.content["ename"] == "SyntaxError"
    assert place in done.traceback
    assert kernel.value("import { a } from './bad.ts'; a") == "'former'"


def test_declaring_a_module_evaluates_nothing(kernel: Client) -> None:
    kernel.run("%%bridge b\ndef told(): print('evaluated')")
    source = "import { told } from 'b'\nimport './later.ts'\ntold(); for (;;) {}"
    done = kernel.run(f"%%module ./m.ts\n{source}")
    assert (done.status, done.stdout) == ("ok", "./m.ts: 3 lines\n")


def test_a_json_module_is_data(kernel: Client) -> None:
    kernel.run('%%module ./data.json\n{"a": [1, 2]}')
    assert kernel.value("import data from './data.json'; data.a") == "[ 1, 2 ]"
    typed = "import data from './data.json' with { type: 'json' }; data.a.length"
    assert kernel.value(typed) == "2"
    done = kernel.run('%%module ./data.json\n{"a": [1,}')
    assert "./data.json:1:10" in done.traceback
    assert "not JSON" in done.traceback


def test_a_magics_line_may_continue(kernel: Client) -> None:
    cell = "%%runcode --global a=1 \\\n  --global b=2\n"
    assert kernel.value(cell + "a + b") == "3"
    assert ":4:1" in kernel.run(cell + "\nnope()").traceback
    assert "--global c=3" in kernel.run("%defaults \\\n --global c=3\nc").stdout
    assert kernel.complete("%%runcode --fn f \\\n  --dead|")["matches"] == ["--deadline"]
    assert "--deadline TIME" in (kernel.inspect("%%runcode \\\n --fn |f") or "")


def test_a_bridge_that_exports_nothing_says_so_and_how(kernel: Client) -> None:
    said = kernel.run("%%bridge m\nfrom math import sqrt, pi").stdout
    assert said.startswith("m exports nothing: names that it imports are exported only if __all__")
    assert said.endswith('__all__ = ["sqrt", "pi"]\n')
    assert kernel.run(f"%%bridge m\nfrom math import sqrt, pi\n{said.splitlines()[-1]}").check()
    assert kernel.value("import { sqrt } from 'm'; sqrt(9)") == "3"
    said = kernel.run("%%bridge n\nclass A: ...\n_x = 1").stdout
    assert "classes are not exported" in said


def test_a_csv_file_is_lent_as_records_of_text(kernel: Client, tmp_path: Path) -> None:
    path = tmp_path / "rows.csv"
    path.write_text("a,b\n1,x\n")
    assert kernel.value(f"%%runcode --global rows=@{path}\n[rows]") == "[ [ { a: '1', b: 'x' } ] ]"
    path.write_text("a,b\n1\n")
    said = kernel.run(f"%%runcode --global rows=@{path}\nrows").traceback
    assert "is not CSV: line 2 has 1 fields, its header has 2" in said


def test_an_error_in_a_module_quotes_the_module(kernel: Client) -> None:
    kernel.run("%%module ./bad.ts\nexport function f() {\n  return nope.x\n}")
    done = kernel.run("import { f } from './bad.ts'\nf()")
    assert "return nope.x" in done.traceback
    assert "bad.ts:2:10" in done.traceback


def test_defaults_hold_for_every_later_cell(kernel: Client) -> None:
    done = kernel.run("%defaults --global unit=5 --deadline 20s")
    assert "--global unit=5" in done.stdout
    assert kernel.value("unit") == "5"
    assert kernel.value("%%runcode --global other=1\nunit + other") == "6"
    assert kernel.value("%%runcode --global unit=7\nunit") == "7"
    assert "--deadline 20s" in kernel.run("%defaults").stdout
    kernel.run("%reset defaults")
    assert kernel.value("typeof unit") == "'undefined'"


def test_reset_forgets_what_it_is_told(kernel: Client) -> None:
    kernel.run("%%bridge b\nx = 1")
    kernel.run("%%module ./m.ts\nexport {}")
    kernel.run("%reset modules")
    assert "no modules" in kernel.run("%modules").stdout
    assert "b: x" in kernel.run("%bridges").stdout
    kernel.run("%reset")
    assert "no bridges" in kernel.run("%bridges").stdout


def test_line_magics_may_stand_above_code(kernel: Client) -> None:
    done = kernel.run("%defaults --global a=2\n\na * 2")
    assert done.text == "4"


def test_doctor_tells_versions_isolation_and_limits(kernel: Client) -> None:
    report = kernel.run("%doctor").stdout
    for word in ("quickjs-ng", "isolation", "ipykernel", "limits.", "64 MiB"):
        assert word in report
    assert "attempts to break out, 0 succeeded" in report


def test_help_lists_magics_and_options(kernel: Client) -> None:
    text = kernel.run("%help").stdout
    for word in ("%%runcode", "%%bridge", "%%module", "%defaults", "--deadline", "@file.json"):
        assert word in text


@pytest.mark.parametrize(
    ("code", "says"),
    [
        ("%%runcod\nconsole.log('ran')", "did you mean %%runcode?"),
        ("%bridge\nconsole.log('ran')", "did you mean %%bridge?"),
        ("%%runcode --memroy 1\nconsole.log('ran')", "did you mean --memory?"),
        ("%defaults --globl a=1\nconsole.log('ran')", "did you mean --global?"),
        ("%reset bridgs\nconsole.log('ran')", "did you mean bridges?"),
        (
            "%runs terminat\nconsole.log('ran')",
            "%runs cannot do 'terminat'; did you mean terminate?",
        ),
        ("%help\n%nope\nconsole.log('ran')", "%nope"),
        ("%defaults --global a=1\n%%runcode --nope\n1", "--nope"),
        ("%%runcode --into x\nconsole.log('ran')", "IPython magic"),
        ("%%runcode --global a=nope\nconsole.log('ran')", "nope"),
        ("%%bridge\nprint('ran')", "needs a name"),
    ],
)
def test_a_mistake_is_named_and_nothing_runs(kernel: Client, code: str, says: str) -> None:
    done = kernel.run(code)
    assert done.status == "error"
    assert says in done.traceback
    assert done.stdout == ""
    assert "no defaults" in kernel.run("%defaults").stdout


def test_runs_lists_what_a_bridge_started_and_ends_it(kernel: Client) -> None:
    assert kernel.run("%runs").check().stdout == "no runs\n"
    start = "started = [run_code('for (;;);', filename=f'loop-{n}.ts') for n in range(2)]"
    kernel.run(f"%%bridge jobs\nfrom sandbox_kernel import run_code\n_{start}").check()
    listed = kernel.run("%runs").check().stdout.splitlines()
    assert [line.split()[0] for line in listed] == ["executing", "executing"]
    assert [line.split()[-1] for line in listed] == ["loop-0.ts", "loop-1.ts"]
    assert kernel.run("%runs terminate").check().stdout == "terminated: 2 runs\n"
    assert until(lambda: kernel.run("%runs").check().stdout == "no runs\n")
