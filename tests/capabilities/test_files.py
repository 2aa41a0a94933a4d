"""`files()`: Node's `fs` on a folder; modes, codes, quotas."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from sandbox_kernel import OptionError, run_code
from sandbox_kernel.capabilities import files
from sandbox_kernel.permissions import ApprovalChoice, InMemoryPermissionStore, Policy
from tests.permissions.people import Person

CODE = """
import fs from 'fs'; import * as p from 'node:fs/promises';
const code = async (f) => { try { return await f(); } catch (e) { return `${e.name} ${e.code ?? e.message}`; } };
"""


@pytest.fixture
def root(tmp_path: Path) -> Path:
    folder = tmp_path / "root"
    (folder / "sub").mkdir(parents=True)
    (folder / "a.txt").write_text("héllo")
    (folder / "sub" / "b.csv").write_text("x,y\n1,2\n")
    (tmp_path / "secret").write_text("SECRET")
    return folder


def run(source: str, root: Path, mode: Any = "read", **limits: int) -> Any:
    return run_code(CODE + source, lend=[files(root, mode, **limits)]).wait(60).unwrap()


def test_reading_as_node_does(root: Path) -> None:
    source = """
    const s = await p.stat('sub/b.csv');
    export default {
      text: await p.readFile('a.txt', 'utf8'), bytes: fs.readFileSync('a.txt').length, buffer: fs.readFileSync('./a.txt').toString(),
      named: await fs.promises.readFile('sub/../a.txt', { encoding: 'utf-8' }), hex: fs.readFileSync('a.txt', 'hex'),
      names: await p.readdir('.'), types: (await p.readdir('', { withFileTypes: true })).map((e) => [e.name, e.isFile(), e.isDirectory()]),
      stat: [s.size, s.isFile(), s.isDirectory(), s.mtime instanceof Date, Math.abs(s.mtimeMs - Date.now()) < 60_000],
      exists: [fs.existsSync('a.txt'), fs.existsSync('nope'), await p.exists('sub'), fs.existsSync('../secret'), fs.existsSync(null)],
    }"""
    assert run(source, root) == {
        "text": "héllo",
        "bytes": 6,
        "buffer": "héllo",
        "named": "héllo",
        "hex": "héllo".encode().hex(),
        "names": ["a.txt", "sub"],
        "types": [["a.txt", True, False], ["sub", False, True]],
        "stat": [8, True, False, True, True],
        "exists": [True, False, True, False, False],
    }


def test_a_way_of_writing_that_is_not_known_is_refused_instead_of_ignored(root: Path) -> None:
    source = """
    fs.writeFileSync('new', 'a', { flag: 'wx' }); fs.appendFileSync('new', 'b', { flag: 'a', encoding: 'utf8' }); fs.writeFileSync('b', 'c', null);
    const tries = [() => p.writeFile('new', 'x', { flag: 'wx' }), () => p.writeFile('new', 'x', { flag: 'a' }), () => p.writeFile('new', 'eA==', 'base64'),
      () => p.appendFile('new', 'x', { flag: 'ax' }), () => p.appendFile('new', 'x', 'latin1')];
    export default [...await Promise.all(tries.map(code)), fs.readFileSync('new', 'utf8')]"""
    first, *said, text = run(source, root, "write")
    assert (first, text) == ("Error EEXIST", "ab")
    assert said == [
        "TypeError the flag of a write is none of 'w' and 'wx'; to add to a file, use appendFile",
        "TypeError a string is written as utf8 here; for another encoding, write bytes",
        "TypeError the flag of a write is none of 'a'",
        "TypeError a string is written as utf8 here; for another encoding, write bytes",
    ]


CHANGES = """
await p.writeFile('new.txt', 'one'); fs.appendFileSync('new.txt', new TextBytes([33]).buffer); await p.writeFile('a.txt', 'changed');
await p.mkdir('deep/er/est', { recursive: true }); await p.writeFile('deep/er/f', 'f'); await p.copyFile('deep/er/f', 'copy');
await p.rename('sub', 'moved'); await p.rename('copy', 'renamed'); await p.rm('deep/er/est', { recursive: true }); fs.writeFileSync('gone', '');
fs.rmSync('gone'); await p.rm('nothing', { force: true });
const walk = (at) => fs.readdirSync(at, { withFileTypes: true }).flatMap((e) => e.isDirectory() ? [at + e.name + '/', ...walk(at + e.name + '/')] : [at + e.name + '=' + fs.readFileSync(at + e.name)]);
export default walk('')
""".replace("TextBytes", "Uint8Array")
CHANGED = [
    "a.txt=changed",
    "deep/",
    "deep/er/",
    "deep/er/f=f",
    "moved/",
    "moved/b.csv=x,y\n1,2\n",
    "new.txt=one!",
    "renamed=f",
]


def test_writing_changes_the_folder(root: Path) -> None:
    assert run(CHANGES, root, "write") == CHANGED
    assert (root / "new.txt").read_text() == "one!"
    assert not (root / "sub").exists()
    assert {path.name for path in root.iterdir()} == {
        "a.txt",
        "deep",
        "moved",
        "new.txt",
        "renamed",
    }


def test_an_overlay_moves_a_folder_whole_or_not_at_all(root: Path) -> None:
    (root / "sub" / "large").write_bytes(b"x" * 100)
    source = "export default [await code(() => p.rename('sub', 'moved')), fs.readdirSync('.'), fs.readdirSync('sub')]"
    assert run(source, root, "overlay", max_total_bytes=50) == [
        "Error EDQUOT",
        ["a.txt", "sub"],
        ["b.csv", "large"],
    ]


def test_an_overlay_looks_the_same_and_changes_nothing(root: Path) -> None:
    lent = files(root, "overlay")
    for _ in range(2):  # each run begins anew
        assert run_code(CODE + CHANGES, lend=[lent]).wait().unwrap() == CHANGED
    assert (root / "a.txt").read_text() == "héllo"
    assert sorted(os.listdir(root)) == ["a.txt", "sub"]


@pytest.mark.parametrize("mode", ["overlay", "write"])
def test_codes_are_nodes(root: Path, mode: str) -> None:
    source = """
    export default await Promise.all([() => p.readFile('nope'), () => p.readFile('sub'), () => p.readFile('a.txt/x'), () => p.readdir('a.txt'),
      () => p.mkdir('sub'), () => p.mkdir('x/y'), () => p.rm('sub'), () => p.rm('nope'), () => p.rename('nope', 'x'), () => p.writeFile('sub', ''),
      () => p.writeFile('a.txt', '', { flag: 'wx' }), () => p.readFile('../secret'), () => p.readFile('/etc/passwd'), () => p.readFile('a\\0b'),
      () => p.stat('nope'), () => p.rm('.', { recursive: true }), () => p.rename('sub', 'sub/in'), () => p.access('nope'),
      () => p.writeFile('x', { a: 1 }), () => p.readFile(5), () => p.readFile('a.txt', 'klingon'), () => p.readFile('a.txt', () => {})].map(code))"""
    assert run(source, root, mode) == [
        *("Error ENOENT", "Error EISDIR", "Error ENOTDIR", "Error ENOTDIR"),
        *(
            "Error EEXIST",
            "Error ENOENT",
            "Error EISDIR",
            "Error ENOENT",
            "Error ENOENT",
            "Error EISDIR",
        ),
        *("Error EEXIST", "Error EACCES", "Error EACCES", "Error EINVAL"),
        *("Error ENOENT", "Error EBUSY", "Error EINVAL", "Error ENOENT"),
        "TypeError the data must be a string, an ArrayBuffer or a view, not object",
        "TypeError the path must be a string, not int",
        "ValueError unknown encoding 'klingon'; known: utf8, utf-8, latin1, ascii, utf16le, base64, hex",
        "TypeError readFile takes no callback here; await it, or use readFileSync",
    ]


def test_an_error_reads_as_nodes_does(root: Path) -> None:
    source = "let m; try { fs.readFileSync('nope') } catch (e) { m = e.message } export default m"
    assert run(source, root) == "ENOENT: no such file or directory, open 'nope'"


def test_reading_mode_refuses_every_change(root: Path) -> None:
    source = """export default await Promise.all([() => p.writeFile('n', ''), () => p.appendFile('a.txt', 'x'), () => p.mkdir('d'), () => p.rm('a.txt'),
      () => p.rename('a.txt', 'b'), () => p.copyFile('a.txt', 'b'), () => p.rm('sub', { recursive: true })].map(code))"""
    assert run(source, root) == ["Error EROFS"] * 7
    assert sorted(os.listdir(root)) == ["a.txt", "sub"]


@pytest.mark.parametrize("mode", ["overlay", "write"])
def test_quotas_of_bytes_and_files(root: Path, mode: str) -> None:
    limits = {"max_file_bytes": 100, "max_total_bytes": 150, "max_files": 3}
    source = """const x = (n) => 'x'.repeat(n); const r = [];
    for (const f of [() => p.writeFile('1', x(101)), () => p.writeFile('1', x(100)), () => p.writeFile('2', x(60)), () => p.writeFile('1', x(90)),
      () => p.writeFile('2', x(60)), () => p.appendFile('2', 'x'), () => p.mkdir('d'), () => p.mkdir('e'), () => p.rm('d', { recursive: true }), () => p.mkdir('e'),
      () => p.rename('2', '3'), () => p.writeFile('4', ''), () => p.rm('3'), () => p.writeFile('4', x(60))]) r.push(await code(f) ?? 'ok');
    export default r"""
    big, full = "Error EFBIG", "Error EDQUOT"
    expected = [big, "ok", full, "ok", "ok", full, "ok", full, "ok", "ok", "ok", full, "ok", "ok"]
    assert run(source, root, mode, **limits) == expected


def test_a_large_file_is_not_read(root: Path) -> None:
    (root / "big").write_bytes(b"x" * 2000)
    source = "export default [await code(() => p.readFile('big')), (await p.stat('big')).size]"
    assert run(source, root, max_file_bytes=1000) == ["Error EFBIG", 2000]


async def test_runs_at_once_share_the_folder_but_not_the_overlay(root: Path) -> None:
    lent = files(root, "overlay")
    source = "import fs from 'fs'; fs.writeFileSync('mine', String(N)); await 0; export default fs.readFileSync('mine', 'utf8')"
    runs = [run_code(source, lend=[lent], globals={"N": n}) for n in range(10)]
    assert [(await each).unwrap() for each in runs] == [str(n) for n in range(10)]


def test_the_descriptor_of_a_folder_is_closed_with_its_run(root: Path) -> None:
    lent = files(root)
    for _ in range(5):
        run_code("export default 1", lend=[lent]).wait()
    with pytest.raises(OptionError):
        run_code("", lend={"a": lent, "fs": lent, "a/promises": files(root)})
    assert str(root) not in list(map(_target, os.listdir("/proc/self/fd")))


def _target(descriptor: str) -> str:
    try:
        return os.readlink(f"/proc/self/fd/{descriptor}")
    except OSError:
        return ""  # it was the listing's own


def test_it_is_no_free_identifier(root: Path) -> None:
    assert (
        run_code("export default typeof readFile", lend=[files(root)]).wait().unwrap()
        == "undefined"
    )


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"root": "does-not-exist"}, "does not exist"),
        ({"root": __file__}, "is a file, not a folder"),
        ({"root": 5}, "path of a folder"),
        ({"root": ""}, "path of a folder"),
        ({"root": ".", "mode": "rw"}, "'read', 'overlay' or 'write'"),
        ({"root": ".", "max_files": -1}, "max_files"),
    ],
)
def test_bad_arguments_are_refused_at_once(given: dict[str, Any], said: str) -> None:
    with pytest.raises(OptionError, match=said):
        files(**given)


def test_a_folder_that_has_gone_is_told_when_it_is_lent(root: Path) -> None:
    lent = files(root / "sub")
    (root / "sub" / "b.csv").unlink()
    (root / "sub").rmdir()
    with pytest.raises(OptionError, match="No such file"):
        run_code("", lend=[lent])


def test_calls_say_what_will_be_done(root: Path) -> None:
    write = files(root, "write").loan("fs").host["writeFile"]
    assert write.__sandbox_will__("sub/../x", "12345") == "writeFile x (5 bytes)"
    assert write.__sandbox_rule__("./sub//y", "") == ["fs.writeFile:sub/y"]
    rename = files(root, "write").loan("data").host["renameSync"]
    assert rename.__sandbox_will__("a", "b") == "rename a to b"
    assert rename.__sandbox_rule__("a", "b") == ["data.rename:a", "data.rename:b"]
    assert rename.__sandbox_also__ == "data.rename"


TRIES = """
const said = [];
for (const path of ['a.txt', 'sub/b.csv', '../secret']) {
  said.push(await code(() => p.readFile(path, 'utf8')), await code(() => fs.readFileSync(path, 'utf8')));
}
export default said
"""
NO, OUT = "PermissionError", ["Error EACCES"] * 2


@pytest.mark.parametrize(
    ("rules", "reads"),
    [
        ({"fs.readFile:a.txt": "allow"}, [True, True, False, False]),
        ({"fs.readFile:sub/*": "allow"}, [False, False, True, True]),
        ({"fs.readFile": "allow"}, [True, True, True, True]),
        ({"fs.*": "allow", "fs.readFile:sub/*": "deny"}, [True, True, False, False]),
        ({"fs.*": "allow", "fs.readFile": "deny"}, [False, False, False, False]),
    ],
)
def test_a_rule_may_name_a_path_or_the_call_with_or_without_sync(
    root: Path, rules: dict[str, str], reads: list[bool]
) -> None:
    result = run_code(CODE + TRIES, lend=[files(root)], policy=Policy(rules)).wait(60)
    said = result.unwrap()
    assert [not each.startswith(NO) for each in said[:4]] == reads
    assert said[4:] == OUT


@pytest.mark.parametrize("call", ["rename", "copyFile"])
@pytest.mark.parametrize("denied", ["a.txt", "new.txt"])
def test_both_paths_of_a_call_have_to_be_allowed(root: Path, call: str, denied: str) -> None:
    policy = Policy({"fs.*": "allow", f"fs.{call}:{denied}": "deny"})
    source = f"{CODE} export default await p.{call}('a.txt', 'new.txt').catch(String)"
    result = run_code(source, lend=[files(root, "write")], policy=policy).wait(60)
    assert "a rule denies it" in result.unwrap()
    assert [(root / "a.txt").exists(), (root / "new.txt").exists()] == [True, False]


@pytest.mark.parametrize("kept", ["by the policy", "in a store"])
@pytest.mark.parametrize(
    "choice", [ApprovalChoice.ALLOW_RUN, ApprovalChoice.ALLOW_ALWAYS, ApprovalChoice.DENY_ALWAYS]
)
def test_an_answer_about_a_file_is_about_no_other(
    root: Path, choice: ApprovalChoice, kept: str
) -> None:
    person = Person(choice, ApprovalChoice.ALLOW_ONCE)
    store = InMemoryPermissionStore() if kept == "in a store" else None
    policy = Policy(ask=person, store=store)
    result = run_code(CODE + TRIES, lend=[files(root)], policy=policy).wait(60)
    assert [each.what for each in person.asked] == [
        "readFile a.txt",
        "readFile sub/b.csv",
        "readFile sub/b.csv",
    ]
    allowed = [each["outcome"] == "ok" for each in result.calls[:4]]
    assert allowed == [choice.allows, choice.allows, True, True]


def test_the_declaration_names_every_export(root: Path) -> None:
    loan = files(root).loan("fs")
    text = files(root).describe()
    assert all(f" {name}" in text for name in loan.exports["/promises"] if name != "default")
    assert json.dumps(text)
