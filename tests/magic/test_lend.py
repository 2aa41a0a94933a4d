"""`--lend` on `%%runcode` in a Python notebook."""

from __future__ import annotations

from tests.clients import Client


def test_a_cell_has_what_it_is_lent(notebook: Client) -> None:
    assert (
        notebook.run("%%runcode --lend timers --lend web\nawait sleep(5); btoa('a')").check().text
        == "'YQ=='"
    )


def test_what_is_shown_stands_under_the_cell(notebook: Client) -> None:
    outcome = notebook.run(
        "%%runcode --lend display --no-widget\nchart({ data: [1, 2, 3] }); undefined"
    ).check()
    assert [sorted(each) for each in outcome.displays] == [["image/svg+xml", "text/plain"]]


def test_what_is_missing_names_the_option(notebook: Client) -> None:
    assert "--lend timers" in str(notebook.run("%%runcode\nsetTimeout(() => {}, 1)").traceback)
