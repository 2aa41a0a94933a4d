"""Help while typing: completion of options and names, and `%runcode?`."""

from __future__ import annotations

import pytest

from tests.clients import Client


def _complete(notebook: Client, code: str) -> list[str]:
    content = notebook.complete(code, len(code))
    return [code[: content["cursor_start"]] + match for match in content["matches"]]


@pytest.mark.parametrize(
    ("typed", "completed"),
    [
        ("%%runcode --im", "%%runcode --import"),
        ("%%runcode --into x --back", "%%runcode --into x --background"),
        ("%%runcode --global ro", "%%runcode --global rows"),
        ("%%runcode --import fs=my", "%%runcode --import fs=my_fs"),
        ("%%runcode --import my", "%%runcode --import my_fs"),
        ("%%runcode --global n=my_fs.re", "%%runcode --global n=my_fs.read"),
        ("%%runcode --language ja", "%%runcode --language javascript"),
        ("%%runcode --memory 6", "%%runcode --memory 64MiB"),
    ],
)
def test_options_and_names_complete(notebook: Client, typed: str, completed: str) -> None:
    notebook.run("rows = [1]\nclass FS:\n    def read(self): ...\nmy_fs = FS()\n").check()
    assert completed in _complete(notebook, typed)


BODY = "%%runcode --import fs=my_fs --import tools --global rows --global limit=10 --lend timers\n"


@pytest.mark.parametrize(
    ("typed", "completed"),
    [
        ("import { read } from 'f", "import { read } from 'fs"),
        ("import { x } from './ke", "import { x } from './kept.ts"),
        ("import { sh", "import { shout"),
        (
            "import * as tools from 'tools';\ntools.sh",
            "import * as tools from 'tools';\ntools.shout",
        ),
        ("const n = ro", "const n = rows"),
        ("rows.fil", "rows.filter"),
        ("limit.toF", "limit.toFixed"),
        ("Math.hy", "Math.hypot"),
        ("const planets = 3;\nplan", "const planets = 3;\nplanets"),
        ("repo", "report"),
        ("await sle", "await sleep"),
    ],
)
def test_the_body_completes_as_in_the_kernel(notebook: Client, typed: str, completed: str) -> None:
    notebook.run("rows = [1]\ntools = {'shout': str.upper}\nclass FS:\n    def read(self): ...\n")
    notebook.run("my_fs = FS()")
    notebook.run("%%runmodule ./kept.ts\nexport const x = 1;").check()
    assert BODY + completed in _complete(notebook, BODY + typed)


def test_completion_of_a_body_calls_nothing_and_offers_no_python(notebook: Client) -> None:
    notebook.run("calls = []\ndef make(): calls.append(1); return {'f': len}\n").check()
    notebook.run("class Lazy:\n    @property\n    def field(self): calls.append(2)\nlazy = Lazy()")
    offered = _complete(notebook, "%%runcode --import a=make() --import lazy\nle")
    assert not [each for each in offered if each.endswith("\nlen")]
    assert notebook.run("calls").check().text == "[]"


def test_the_name_of_the_magic_completes(notebook: Client) -> None:
    assert "%%runcode" in _complete(notebook, "%%runc")
    assert "%%runmodule" in _complete(notebook, "%%runm")


@pytest.mark.parametrize("asked", ["%runcode?", "%%runcode?"])
def test_a_question_mark_shows_real_help(notebook: Client, asked: str) -> None:
    outcome = notebook.run(asked).check()
    page = outcome.content["payload"][0]["data"]["text/plain"]
    for option in ("--fn", "--import", "--global", "--into", "--background", "--deadline"):
        assert option in page
    assert "Python expression" in page


def test_it_can_be_reloaded_and_unloaded(notebook: Client) -> None:
    notebook.run("%reload_ext runcode").check()
    assert notebook.run("%%runcode\n1").check().text == "1"
    notebook.run("%unload_ext runcode").check()
    assert notebook.run("%%runcode\n1").content["status"] == "error"
    notebook.run("%load_ext runcode").check()
    assert notebook.run("%%runcode\n1").check().text == "1"


def test_the_package_names_the_same_extension(notebook: Client) -> None:
    notebook.run("%load_ext sandbox_kernel").check()  # beside runcode: the same, loaded once
    assert notebook.run("%%runcode\n1").check().text == "1"
    notebook.run("%unload_ext sandbox_kernel").check()
    notebook.run("%unload_ext runcode").check()
    assert notebook.run("%%runcode\n1").content["status"] == "error"
    notebook.run("%load_ext sandbox_kernel").check()
    assert notebook.run("%%runcode\n2").check().text == "2"
    notebook.run("%load_ext runcode").check()
    assert notebook.run("%%runcode\n3").check().text == "3"


def test_a_continued_line_completes_options_and_names(notebook: Client) -> None:
    notebook.run("rows = [1]").check()
    line = "%%runcode \\\n  --global rows \\\n  "
    assert f"{line}--deadline" in _complete(notebook, f"{line}--dead")
    assert f"{line}--global rows" in _complete(notebook, f"{line}--global ro")
    assert f"{line}--raw\nrows.length" in _complete(notebook, f"{line}--raw\nrows.len")
