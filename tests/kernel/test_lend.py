"""`--lend` in the sandbox kernel: timers, files, displays."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.clients import Client
from tests.markup import check_inert


@pytest.fixture(autouse=True)
def forget(kernel: Client) -> Iterator[None]:
    yield
    kernel.run("%reset")


def test_a_cell_has_what_it_is_lent(kernel: Client, tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("hello")
    assert kernel.value("%%runcode --lend timers\nawait sleep(5); 1") == "1"
    read = "import fs from 'fs'; fs.readFileSync('a.txt', 'utf8')"
    assert kernel.value(f"%%runcode --lend fs=files:{tmp_path}\n{read}") == "'hello'"
    assert kernel.run("typeof setTimeout").text == "'undefined'"


def test_an_error_of_a_capability_has_no_python_for_an_author(
    kernel: Client, tmp_path: Path
) -> None:
    read = f"%%runcode --lend fs=files:{tmp_path}\nimport fs from 'fs'; fs.readFileSync('nope')"
    done = kernel.run(read)
    assert done.content["evalue"].startswith("ENOENT: no such file")
    assert "in the bridge" not in done.traceback


def test_defaults_lend_to_every_cell(kernel: Client) -> None:
    assert "--lend web" in kernel.run("%defaults --lend web").stdout
    assert kernel.value("new URL('https://a.org').href") == "'https://a.org/'"


def test_what_is_shown_stands_under_the_cell(kernel: Client) -> None:
    outcome = kernel.run(
        "%%runcode --lend display\ntable([{ a: '<b>' }]); chart({ mark: 'bar', data: [1, 2] });"
        " image({ width: 1, height: 1, data: new Uint8Array(4) }); undefined"
    ).check()
    assert [sorted(each) for each in outcome.displays] == [
        ["text/html", "text/plain"],
        ["image/svg+xml", "text/plain"],
        ["image/png", "text/plain"],
    ]
    check_inert(outcome.displays[0]["text/html"])
    assert isinstance(outcome.displays[2]["image/png"], str)


def test_what_is_missing_names_the_option(kernel: Client) -> None:
    for code, said in (
        ("setTimeout(() => {}, 1)", "--lend timers"),
        ("await fetch('https://a.org')", "--lend fetch=HOST"),
        ("import fs from 'fs'", "--lend fs=files:./FOLDER"),
    ):
        outcome = kernel.run(code)
        assert said in str(outcome.traceback)
