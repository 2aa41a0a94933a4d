"""`%%runcode --keep NAME`: a result that later cells have as a global."""

from __future__ import annotations

import pytest

from tests.clients import Client


@pytest.fixture(autouse=True)
def forget(kernel: Client) -> None:
    kernel.run("%reset")


def test_a_kept_result_is_a_global_of_later_cells_until_reset(kernel: Client) -> None:
    kept = "[{ id: 1, at: new Date(0), tags: new Map([['a', 1n]]) }, { id: NaN }]"
    assert kernel.run(f"%%runcode --keep rows\n{kept}").status == "ok"
    assert kernel.value("rows.length + rows[0].tags.size") == "3"
    assert kernel.value("[rows[0].at.getTime(), rows[0].tags.get('a'), rows[1].id]") == (
        "[ 0, 1n, NaN ]"
    )
    assert kernel.run("%kept").stdout.startswith("rows: Array(2), ")
    kernel.run("%reset kept")
    assert kernel.value("typeof rows") == "'undefined'"
    assert "nothing is kept" in kernel.run("%kept").stdout


def test_cells_may_refine_shadow_and_import_it(kernel: Client) -> None:
    kernel.run("%%runcode --keep n\n1")
    kernel.run("%%runcode --keep n\nn + 1")
    assert kernel.value("n") == "2"
    assert kernel.value("const n = 'own'; n") == "'own'"
    assert kernel.value("%%runcode --global n=7\nn") == "7"
    kernel.run("%%module ./double.ts\nexport const double = () => n * 2")
    assert kernel.value("import { double } from './double.ts'; double()") == "4"


def test_each_cell_gets_a_copy(kernel: Client) -> None:
    kernel.run("%%runcode --keep list\n[1]")
    kernel.run("list.push(2)")
    assert kernel.value("list") == "[ 1 ]"


def test_a_cell_is_lent_only_what_its_text_names(kernel: Client) -> None:
    kernel.run("%%runcode --keep big\n'x'.repeat(5e6)")
    assert kernel.run("%%runcode --memory 2MiB\n1").status == "ok"
    assert kernel.run("%%runcode --memory 2MiB\nbig.length").status == "error"


@pytest.mark.parametrize(
    ("code", "says"),
    [
        ("%%runcode --keep 2x\nconsole.log('ran')", "--keep 2x is not a JavaScript identifier"),
        ("%%runcode --keep class\nconsole.log('ran')", "--keep class is a reserved name"),
        ("%%runcode --keep Math\nconsole.log('ran')", "Math is built in"),
        ("%%runcode --keep report\nconsole.log('ran')", "report is built in"),
        ("%%runcode --keep\nconsole.log('ran')", "--keep needs a value: --keep NAME"),
        ("%defaults --keep a\nconsole.log('ran')", "--keep is for one cell"),
        ("%defaults --global unit=5\n%%runcode --keep unit\nconsole.log('ran')", "%defaults"),
    ],
)  # fmt: skip
def test_a_name_that_is_invalid_or_taken_is_refused_before_the_cell_runs(
    kernel: Client, code: str, says: str
) -> None:
    done = kernel.run(code)
    assert done.status == "error"
    assert says in done.traceback
    assert "ran" not in done.stdout


@pytest.mark.parametrize(
    ("result", "says"),
    [
        ("const a = 1", "the cell has no result"),
        ("export default { run() {} }", "f.run"),
        ("class A { x = 1 }\nnew A()", "the result cannot be kept"),
    ],
)
def test_a_result_that_cannot_be_lent_again_is_refused_and_shown(
    kernel: Client, result: str, says: str
) -> None:
    kernel.run("%%runcode --keep f\n'before'")
    done = kernel.run(f"%%runcode --keep f\n{result}")
    assert done.status == "error"
    assert says in done.traceback
    assert kernel.value("f") == "'before'"


def test_a_failed_cell_keeps_nothing(kernel: Client) -> None:
    kernel.run("%%runcode --keep a\nthrow new Error('no')")
    assert kernel.value("typeof a") == "'undefined'"


def test_names_and_members_complete(kernel: Client) -> None:
    kernel.run("%%runcode --keep prices\n({ apple: 1, pear: 2 })")
    assert "prices" in kernel.complete("pri|")["matches"]
    assert kernel.complete("prices.a|")["matches"] == ["apple"]
    assert "prices" in kernel.complete("%%runcode --keep p|")["matches"]
    assert "apple: 1" in (kernel.inspect("prices|") or "")
