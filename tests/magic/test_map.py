"""%%runcode --map: one cell over many items."""

from __future__ import annotations

from tests.clients import Client


def test_each_item_gets_its_result(notebook: Client) -> None:
    notebook.run("items = range(5)").check()
    cell = "%%runcode --map items --into squares\nexport default (n: number) => n * n"
    done = notebook.run(cell)
    done.check()
    shown = [content["data"] for content in done.all("update_display_data")]
    assert shown[-1]["text/plain"] == "5 of 5 done"
    assert '<progress value="5" max="5">' in shown[-1]["text/html"]
    answer = notebook.run("[result.result for result in squares]")
    assert answer.text == "[0, 1, 4, 9, 16]"


def test_failures_are_results_too(notebook: Client) -> None:
    cell = "%%runcode --map [1,2] --into all --fn f\nexport const f = (n) => { throw new RangeError('x') }"
    notebook.run(cell).check()
    answer = notebook.run("[str(result.error) for result in all]")
    assert answer.text == "['RangeError: x', 'RangeError: x']"


def test_what_makes_no_sense_is_refused(notebook: Client) -> None:
    for options, message in (
        ("--map [1]", "--map needs a variable for the results: --into NAME"),
        ("--map [1] --into x --args [1]", "--args is for one run, and --map makes many"),
        ("--map 5 --into x", "inputs must be an iterable, such as a list, not int"),
        ("--map nothing --into x", "nothing raised NameError"),
    ):
        done = notebook.run(f"%%runcode {options}\nexport default (n) => n")
        assert message in done.traceback, options


def test_a_cell_that_ends_in_many_runs_shows_how_far_they_are(notebook: Client) -> None:
    notebook.run("from sandbox_kernel import run_many").check()
    shown = notebook.run("many = run_many('export default (n) => n', range(3)); many")
    data = [content["data"] for content in shown.all("display_data")]
    assert data[0]["text/plain"] == "0 of 3 done"
    assert notebook.run("[r.result for r in many]").text == "[0, 1, 2]"


def test_the_bar_of_a_generator_ends_at_what_was_done(notebook: Client) -> None:
    """Also if its last results come sooner than a page is updated."""
    notebook.run("from sandbox_kernel import run_many").check()
    done = notebook.run(
        "many = run_many('export default (n) => n', iter(range(3)), isolate='batch', batch=1)\n"
        "display(many); len(list(many))"
    )
    shown = [content["data"] for content in done.all("update_display_data")]
    assert shown[-1]["text/plain"] == "3 done"
    assert 'value="3"' in shown[-1]["text/html"]
