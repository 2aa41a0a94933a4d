"""`sandbox-kernel run`: results, logs, errors and exit codes."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.command import command


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path


def test_the_last_expression_of_a_file_is_printed(folder: Path) -> None:
    (folder / "a.ts").write_text("const n: number = 2;\n({ n, args })")
    done = command("run", "a.ts", "x", "-1", folder=folder)
    assert (done.returncode, done.stdout, done.stderr) == (0, "{ n: 2, args: [ 'x', '-1' ] }\n", "")


def test_logs_and_reports_go_to_stderr_and_only_the_result_to_stdout(folder: Path) -> None:
    (folder / "a.js").write_text(
        "console.log('one'); console.error('two'); report({ three: 3 }); export default 'four'"
    )
    done = command("run", "a.js", folder=folder)
    assert done.stdout == "four\n"
    assert done.stderr == "one\ntwo\nreport: { three: 3 }\n"


def test_a_result_is_printed_as_json_on_request() -> None:
    source = "[1n, new Map([['a', NaN]]), 'tab\\t\\u001b', Array(500).fill(0)]"
    done = command("run", "-", "--json", stdin=source)
    assert json.loads(done.stdout) == ["1", [["a", None]], "tab\t\x1b", [0] * 500]
    assert command("run", "--json", "-", stdin="const nothing = 1").stdout == "null\n"
    assert command("run", "-", stdin="const nothing = 1").stdout == ""


def test_what_a_guest_prints_cannot_act_on_the_terminal() -> None:
    source = "console.log('a\\x1b[2Jb'); report('c\\x1b[2J'); export default 'd\\x1b[2J\\u202e'"
    done = command("run", "-", stdin=source)
    assert "\x1b" not in done.stdout + done.stderr
    assert "\u202e" not in done.stdout
    thrown = command("run", "-", stdin="throw new Error('e\\x1b[2J')")
    assert "\x1b" not in thrown.stderr
    assert "Error: e\\x1B[2J" in thrown.stderr


def test_a_failure_shows_its_place_and_the_exit_code_is_1(folder: Path) -> None:
    (folder / "bad.ts").write_text("const n: number = 1;\nthrow new RangeError('too far')\n")
    done = command("run", "bad.ts", folder=folder)
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.startswith("RangeError: too far\n")
    assert "bad.ts:2:11" in done.stderr
    assert "^" in done.stderr


@pytest.mark.parametrize(
    ("source", "options", "says"),
    [
        ("for (;;);", ["--deadline", "300ms"], "300ms budget"),
        ("const all = []; for (;;) all.push(new Array(1e5).fill(1.5))", ["--memory=8MiB"], "8 MiB"),
        ("const x = ;", [], "SyntaxError"),
        ("new (class P {})", [], "an instance of P cannot cross"),
        ("import 'fs'", [], "cannot import 'fs'"),
    ],
)
def test_every_way_to_fail_exits_with_1(source: str, options: list[str], says: str) -> None:
    done = command("run", "-", *options, stdin=source)
    assert (done.returncode, done.stdout) == (1, "")
    assert says in done.stderr


def test_values_are_lent_as_json_and_from_files(folder: Path) -> None:
    (folder / "rows.json").write_text('[{"id": 1}]')
    (folder / "rows.csv").write_text('name,n\n"a, b",1\nc,2\n')
    (folder / "note.txt").write_text("plain")
    words = ["--global", "limit=10", "--global", 'name="Ada"', "--global", "rows=@rows.json"]
    words += ["--global", "table=@rows.csv", "--global=note=@note.txt"]
    source = "[limit, name, rows, table, note]"
    done = command("run", "-", "--json", *words, stdin=source, folder=folder)
    table = [{"name": "a, b", "n": "1"}, {"name": "c", "n": "2"}]
    assert json.loads(done.stdout) == [10, "Ada", [{"id": 1}], table, "plain"]


def test_modules_are_lent_by_path_and_by_name(folder: Path) -> None:
    (folder / "bundle.mjs").write_text("export const one = 1")
    package = folder / "node_modules" / "two"
    package.mkdir(parents=True)
    (package / "index.js").write_text("export default 2")
    (package / "package.json").write_text('{"name": "two", "type": "module"}')
    words = [
        "--module",
        "bundle.mjs",
        "--module",
        "node_modules/two",
        "--module",
        "./x.ts=@bundle.mjs",
    ]
    source = "import { one } from './bundle.mjs'; import two from './two'; import { one as x } from './x.ts'; [one, two, x]"
    assert command("run", "-", *words, stdin=source, folder=folder).stdout == "[ 1, 2, 1 ]\n"


def test_options_stand_before_or_after_the_file_and_end_at_two_dashes(folder: Path) -> None:
    (folder / "a.ts").write_text("args")
    done = command("run", "--json", "a.ts", "b", "--memory", "32MiB", "--", "--json", folder=folder)
    assert json.loads(done.stdout) == ["b", "--json"]


@pytest.mark.parametrize(
    ("source", "hint"),
    [
        ("process.env.HOME", "lend the settings that the code may see with --global"),
        ("await fetch('https://example.org')", "a program in Python can lend it"),
        ("return 1", "end it with the expression, or write export default VALUE"),
        ("import { x } from 'fs'", "lend=[files('FOLDER')]"),
        ("import './lib.ts'", "--module ./lib.ts=@FILE"),
        ("const all = []; for (;;) all.push(new Array(1e5).fill(1.5))", "--memory 256MiB"),
    ],
)
def test_a_hint_is_given_in_the_words_of_the_command_line(source: str, hint: str) -> None:
    done = command("run", "-", stdin=source)
    assert "hint: " in done.stderr
    assert hint in " ".join(done.stderr.split())
