"""Completion, inspection, is_complete and history, over Jupyter; also while a cell runs."""

from __future__ import annotations

import time

import pytest

from tests.clients import Client


@pytest.fixture(scope="module", autouse=True)
def lent(kernel: Client) -> None:
    kernel.run(
        "%%bridge files\nROOT = '/data'\nSETTINGS = {'depth': 3, 'name': 'x'}\n"
        "def read_file(path: str, encoding: str = 'utf-8') -> str:\n"
        '    """Read a file.\n\n    Returns its text."""\n    return path\n'
        "async def list_dir(path): return []\n"
    )
    kernel.run("%%module ./math.ts\nexport const add = (a, b) => a + b\nexport function sub() {}")
    kernel.run('%defaults --global config={"limit": 10, "tags": []}')


@pytest.mark.parametrize(
    ("code", "some"),
    [
        ("%|", ["%%runcode", "%%bridge", "%defaults", "%doctor"]),
        ("%%ru|", ["%%runcode"]),
        ("%def|", ["%defaults"]),
        ("%%runcode --|", ["--fn", "--memory", "--no-widget"]),
        ("%%runcode --fn f --de|", ["--deadline"]),
        ("%%runcode --language |", ["typescript", "javascript"]),
        ("%%runcode --import f|", ["files"]),
        ("%%runcode --import x=f|", ["files"]),
        ("%%runcode --global x=files.r|", ["files.read_file"]),
        ("%%runcode --module |", ["./math.ts"]),
        ("%defaults --mem|", ["--memory"]),
        ("%reset br|", ["bridges"]),
        ("%runs te|", ["terminate"]),
        ("import { read_file } from '|'", ["files", "./math.ts"]),
        ("import { add } from './m|", ["./math.ts"]),
        ("const m = await import('fi|", ["files"]),
        ("import { | } from 'files'", ["read_file", "list_dir", "ROOT"]),
        ("import { ROOT, re| } from 'files'", ["read_file"]),
        ("import { a| } from './math.ts'", ["add"]),
        ("import { re|", ["read_file"]),
        ("import { ad|", ["add"]),
        ("import * as fs from 'files'\nfs.|", ["read_file", "ROOT"]),
        ("import * as m from './math.ts'\nm.|", ["add", "sub"]),
        ("import { SETTINGS } from 'files'\nSETTINGS.|", ["depth", "name"]),
        ("con|", ["config", "console", "const", "continue"]),
        ("config.|", ["limit", "tags"]),
        ("config.tags.|", ["push", "map"]),
        ("Ma|", ["Math", "Map"]),
        ("Math.|", ["max", "PI", "floor"]),
        ("JSON.str|", ["stringify"]),
        ("console.|", ["log", "table", "group"]),
        ("'abc'.|", ["toUpperCase", "length"]),
        ("[1, 2].fl|", ["flat", "flatMap"]),
        ("const seen = new Map()\nseen.|", ["get", "set", "has"]),
        ("const when: Date = make()\nwhen.getF|", ["getFullYear"]),
        ("const total = 1\nfunction tally() {}\nto|", ["total"]),
        ("function tally() {}\nta|", ["tally"]),
        ("Array.prototype.|", ["map"]),
        ("re|", ["report", "return"]),
    ],
)  # fmt: skip
def test_completion(kernel: Client, code: str, some: list[str]) -> None:
    content = kernel.complete(code)
    assert set(some) <= set(content["matches"]), content["matches"]


@pytest.mark.parametrize(
    "code", ["'just a str|", "// a comm|", "const a = `text ma|", "%%bridge x\nimport o|"]
)
def test_nothing_is_offered_inside_text(kernel: Client, code: str) -> None:
    assert kernel.complete(code)["matches"] == []


def test_options_and_magics_come_with_a_few_words(kernel: Client) -> None:
    content = kernel.complete("%%runcode --mem|")
    (words,) = content["metadata"]["_jupyter_types_experimental"]
    assert (words["text"], words["type"]) == ("--memory", "heap limit, such as 64MiB")
    assert content["matches"] == ["--memory"]
    types = kernel.complete("%%b|")["metadata"]["_jupyter_types_experimental"]
    assert types[0]["type"].startswith("Python whose public functions")
    assert kernel.complete("Math.ma|")["metadata"] == {}


def test_a_completion_replaces_the_word_it_completes(kernel: Client) -> None:
    content = kernel.complete("Math.fl|")
    assert (content["matches"], content["cursor_start"], content["cursor_end"]) == (["floor"], 5, 7)
    content = kernel.complete("'é日本'; Ma|th")
    start, end = content["cursor_start"], content["cursor_end"]
    assert "'é日本'; Math"[start:end] == "Math"


def test_a_cells_own_options_count(kernel: Client) -> None:
    code = '%%runcode --global special={"inner": 1} --import other=files\n'
    assert "special" in kernel.complete(code + "spe|")["matches"]
    assert "inner" in kernel.complete(code + "special.|")["matches"]
    assert "other" in kernel.complete(code + "import {} from 'o|")["matches"]


LENDS = "%%runcode --lend fs=files:. --lend timers --lend fetch=a.org\n"


@pytest.mark.parametrize(
    ("code", "some"),
    [
        ("setT|", ["setTimeout"]),
        ("fet|", ["fetch"]),
        ("import fs from '|", ["fs", "fs/promises", "node:fs"]),
        ("import { read| } from 'fs/promises'", ["readFile", "readdir"]),
        ("import fs from 'node:fs'\nfs.read|", ["readFileSync", "readdirSync"]),
    ],
)
def test_what_is_lent_is_completed(kernel: Client, code: str, some: list[str]) -> None:
    matches = kernel.complete(LENDS + code)["matches"]
    assert set(some) <= set(matches)
    assert "default" not in matches


@pytest.mark.parametrize(
    ("code", "says"),
    [
        ("setTime|out", "setTimeout(callback: (...args: any[]) => void, delay?: number"),
        ("sle|ep(5)", "await sleep(100) waits for 100 milliseconds."),
        ("import fs from 'fs'\nfs.readFileSync(|", "options: Encoding | { encoding: Encoding }"),
        ("import fs from 'f|s'", "lent 'fs' exports"),
    ],
)
def test_what_is_lent_is_described(kernel: Client, code: str, says: str) -> None:
    assert says in (kernel.inspect(LENDS + code) or "")


@pytest.mark.parametrize(
    ("code", "says"),
    [
        ("import { read_file } from 'files'\nread_f|ile('x')", "read_file(path: str, encoding: str = 'utf-8') -> str"),
        ("import { read_file } from 'files'\nread_f|ile('x')", "Returns its text."),
        ("import * as fs from 'files'\nfs.list_dir|", "async fs.list_dir(path)"),
        ("import { ROOT } from 'files'\nROO|T", "'/data'"),
        ("con|fig", "{ limit: 10, tags: [] }"),
        ("con|fig", "type: Object"),
        ("config.lim|it", "value: 10"),
        ("Math.ma|x(1)", "Math.max(...values): number"),
        ("Math.max(|", "Math.max(...values): number"),
        ("Math.max(1, Math.min(|2), 3)", "Math.min(...values): number"),
        ("'abc'.pad|Start(5)", "String.prototype.padStart(length, fill?): string"),
        ("'abc'.padStart(|", "String.prototype.padStart(length, fill?): string"),
        ("const a = [1]\na.map(|", "Array.prototype.map(map, thisArg?): Array"),
        ("parseInt(|'7')", "parseInt(text, radix?): number"),
        ("Math.cosh|", "function Math.cosh (1 parameter)"),
        ("import { read_file } from 'files'\nread_file(|", "read_file(path: str"),
        ("%%runcode --mem|ory 64MiB", "--memory SIZE"),
        ("import {} from 'fi|les'", "bridge 'files' exports"),
        ("import {} from './ma|th.ts'", "add"),
        ("%%run|code --fn x", "--deadline TIME"),
        ("%res|et", "forget"),
    ],
)  # fmt: skip
def test_inspection(kernel: Client, code: str, says: str) -> None:
    text = kernel.inspect(code)
    assert text is not None
    assert says in text


@pytest.mark.parametrize(
    "code", ["|", "nothing_known|", "1 +| 1", "unknown(|", "if (|", "x.map(|", "[1].map(x => {|"]
)
def test_what_is_unknown_is_not_found(kernel: Client, code: str) -> None:
    assert kernel.inspect(code) is None


def test_help_is_answered_while_a_cell_runs(kernel: Client) -> None:
    msg_id = kernel.send("console.log('going'); for (;;) {}")
    kernel.wait_for(msg_id, "stream")
    started = time.monotonic()
    assert "floor" in kernel.complete("Math.fl|")["matches"]
    assert "Math.max" in (kernel.inspect("Math.max|") or "")
    print(f"both answered in {(time.monotonic() - started) * 1000:.0f} ms")
    kernel.interrupt()
    done = kernel.finish(msg_id)
    assert done.content["ename"] == "terminated"
    states = [c["execution_state"] for c in done.all("status")]
    assert states[0] == "busy"
    assert states[-1] == "idle"
    assert set(states[:-1]) == {"busy"}


@pytest.mark.parametrize(
    ("code", "status"),
    [("1 + 1", "complete"), ("function f() {", "incomplete"), ("f(]", "invalid")],
)
def test_is_complete(kernel: Client, code: str, status: str) -> None:
    assert kernel.reply(kernel.channels.is_complete(code))["content"]["status"] == status


def test_history_holds_the_cells(kernel: Client) -> None:
    kernel.run("'remember me'")
    content = kernel.reply(kernel.channels.history(hist_access_type="tail", n=1))["content"]
    assert content["history"][0][2] == "'remember me'"
