"""JavaScript and TypeScript programs, on the engine: the face of a program, and nothing of the host."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path
from typing import Any

import pytest

from sandbox_kernel.errors import EngineClosedError, OptionError
from sandbox_kernel.permissions import Policy
from sandbox_kernel.programs import ProgramResult, Programs
from sandbox_kernel.run import run_program
from sandbox_kernel.sessions import Workspaces
from tests.programs.test_tools import add, fail, shout
from tests.waiting import until

MIB = 2**20
SETTLE_SECONDS = 60


def js(code: str, language: str = "javascript", **options: Any) -> ProgramResult:
    return run_program(code, language, **options).wait(SETTLE_SECONDS)


# ---------------------------------------------------------------------------- streams and ends


def test_console_is_stdout_and_stderr_in_order() -> None:
    result = js("console.log(6 * 7, {a: [1]}); console.error('careful'); console.info('x %d', 3)")
    assert (result.stdout, result.stderr) == ("42 { a: [ 1 ] }\nx 3\n", "careful\n")
    assert result.logs == "42 { a: [ 1 ] }\ncareful\nx 3\n"
    assert (result.exit_code, result.killed, result.output_files) == (0, False, [])


@pytest.mark.parametrize("language", ["typescript", "ts", "TS"])
def test_typescript_is_a_language_of_its_own(language: str) -> None:
    assert js("const n: number = 41; console.log(n + 1);", language).stdout == "42\n"
    assert js("const n: number = 41;", "js").exit_code == 1


def test_an_uncaught_error_is_on_stderr_with_its_place() -> None:
    result = js("const a = 1;\nfunction f() { throw new TypeError('no ' + a); }\nf();")
    assert (result.exit_code, result.stdout, result.killed) == (1, "", False)
    assert "TypeError: no 1" in result.stderr
    assert "program.js:2" in result.stderr


@pytest.mark.parametrize(
    "code", ["Promise.reject(new Error('late')); 1", "(async () => { throw Error('late'); })(); 1"]
)
def test_a_rejection_that_nobody_handles_is_an_uncaught_error(code: str) -> None:
    result = js(code)
    assert (result.exit_code, result.stdout) == (1, "")
    assert "Uncaught (in promise) Error: late" in result.stderr
    assert js("console.error('Uncaught (in promise) Error: late')").exit_code == 0


@pytest.mark.parametrize(
    ("code", "hint"),
    [
        ("setTimeout(() => {}, 1)", "there is no setTimeout; programs of Node and Deno have it"),
        ("process.exit(1)", "args, stdin and env are what the program was given"),
        ("return 1", "setResult(VALUE) gives a result"),
        ("import './other.js'", "./other.js is not among the files of the program"),
        ("import os", "this program is JavaScript or TypeScript"),
        ("await fetch('http://x')", "a tool that is lent can fetch for it"),
        ("new Worker('x')", "a tool that is lent can do what this code needs"),
    ],
)
def test_hints_name_nothing_that_a_program_cannot_have(code: str, hint: str) -> None:
    said = " ".join(js(code).stderr.split())
    assert hint in said
    assert "=" not in said.rpartition("hint: ")[2]  # an option of run_code


@pytest.mark.parametrize(
    "code",
    ["this is no program", "import x from 'nowhere'", "await Promise.reject(new Error('x'))"],
)
def test_what_cannot_run_ends_with_exit_code_1(code: str) -> None:
    result = js(code)
    assert result.exit_code == 1
    assert result.stderr


def test_arguments_stdin_and_env_are_globals() -> None:
    result = js(
        "console.log(args.join(), stdin.trim(), env.A)",
        args=["a", "b c"],
        stdin="hello\n",
        env={"A": "b"},
    )
    assert result.stdout == "a,b c hello b\n"


def test_what_it_says_streams_while_it_runs() -> None:
    async def first() -> tuple[str, str]:
        run = run_program("console.log('first'); for (;;);", "js")
        async for chunk in run.stream():
            run.terminate("seen")
            return chunk
        raise AssertionError("nothing came")

    assert asyncio.run(first()) == ("stdout", "first\n")


# ---------------------------------------------------------------------------- files


def test_fs_is_the_programs_directory() -> None:
    code = """
import fs from 'fs';
import { readFile, writeFile, mkdir, readdir } from 'node:fs/promises';
const text = fs.readFileSync('data.txt', 'utf8');
await mkdir('a/b', { recursive: true });
await writeFile('a/b/out.txt', text.toUpperCase());
fs.writeFileSync('bytes', new Uint8Array([1, 2, 255]));
fs.appendFileSync('bytes', 'x');
console.log((await readdir('.')).join(), (await readFile('bytes')).length, fs.statSync('bytes').isFile());
fs.renameSync('bytes', 'moved'); fs.rmSync('moved'); fs.rmSync('nothing', { force: true });
console.log(fs.existsSync('moved'), fs.existsSync('a'));
"""
    result = js(code, files={"data.txt": "ä"})
    assert result.stderr == ""
    assert result.stdout == "a,bytes,data.txt 4 true\nfalse true\n"
    assert [(f.name, f.data) for f in result.output_files] == [("a/b/out.txt", "Ä".encode())]


@pytest.mark.parametrize(
    ("call", "code"),
    [
        ("readFileSync('missing')", "ENOENT"),
        ("readFileSync('/etc/passwd')", "EACCES"),
        ("readFileSync('../../etc/passwd')", "EACCES"),
        ("readFileSync('.')", "EISDIR"),
        ("writeFileSync('../escaped', 'x')", "EACCES"),
        ("writeFileSync('/tmp/escaped', 'x')", "EACCES"),
        ("mkdirSync('data.txt')", "EEXIST"),
        ("renameSync('data.txt', '../data.txt')", "EACCES"),
        ("rmSync('..', {recursive: true})", "EACCES"),
        ("readdirSync('/')", "EACCES"),
        ("copyFileSync('../x', 'y')", "EACCES"),
    ],
)
def test_paths_that_lead_out_and_mistakes_are_errors_like_nodes(call: str, code: str) -> None:
    source = f"import fs from 'fs'; try {{ fs.{call}; }} catch (e) {{ console.log(e instanceof Error, e.code); }}"
    result = js(source, files={"data.txt": "x"})
    assert (result.stdout, result.stderr) == (f"true {code}\n", "")


def test_a_link_that_another_program_left_is_not_followed(tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("hunter2")
    workspaces = Workspaces()
    leave = f"import os; os.symlink({str(tmp_path / 'secret')!r}, 'link'); os.symlink({str(tmp_path)!r}, 'folder')"
    run_program(leave, session="s", workspaces=workspaces).wait(SETTLE_SECONDS)
    code = """
import fs from 'fs';
for (const path of ['link', 'folder/secret']) {
  try { console.log(fs.readFileSync(path, 'utf8')); } catch (e) { console.log(e.code); }
}
"""
    result = js(code, session="s", workspaces=workspaces)
    assert result.stdout == "ELOOP\nELOOP\n"


def test_input_files_are_imported_and_errors_name_no_path_of_the_host(tmp_path: Path) -> None:
    files = {"lib.ts": "export const double = (n: number): number => n * 2;"}
    code = "import { double } from './lib.ts'; console.log(double(21))"
    assert js(code, "ts", files=files).stdout == "42\n"
    result = js("import fs from 'fs'; fs.readFileSync('missing');")
    assert "ENOENT" in result.stderr
    assert "script-" not in result.stderr
    assert "/tmp" not in result.stderr


def test_files_cross_between_the_languages_of_a_session() -> None:
    workspaces = Workspaces()
    run_program("open('n', 'w').write('41')", session="s", workspaces=workspaces).wait(
        SETTLE_SECONDS
    )
    code = "import fs from 'fs'; fs.writeFileSync('n', String(Number(fs.readFileSync('n', 'utf8')) + 1))"
    js(code, session="s", workspaces=workspaces)
    result = run_program("print(open('n').read())", session="s", workspaces=workspaces).wait(
        SETTLE_SECONDS
    )
    assert result.stdout == "42\n"


def test_a_fresh_directory_is_gone_afterwards(tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    with Programs(spares=0) as programs:
        code = "import fs from 'fs'; fs.writeFileSync('a', 'x'.repeat(1000))"
        result = run_program(code, "js", engine=programs).wait(SETTLE_SECONDS)
        assert [file.name for file in result.output_files] == ["a"]
        assert until(lambda: not any("a" in files for _, _, files in os.walk(tmp_path)))


def test_the_quota_of_the_workspace_holds() -> None:
    workspaces = Workspaces(max_bytes=MIB)
    code = "import fs from 'fs'; try { fs.writeFileSync('a', 'x'.repeat(2 << 20)) } catch (e) { console.log(e.code) }"
    assert js(code, session="s", workspaces=workspaces).stdout == "EDQUOT\n"


# ---------------------------------------------------------------------------- results and tools


def test_results_and_their_files() -> None:
    code = "import fs from 'fs'; fs.writeFileSync('a.csv', '1'); setResult({ok: [1, null]}, ['a.csv', '../x'])"
    result = js(code)
    assert result.result == {"ok": [1, None]}
    assert [file.name for file in result.files] == ["a.csv"]
    assert "../x" in result.stderr


def test_what_is_not_lent_is_not_there() -> None:
    code = "console.log(typeof callTool, typeof callToolsParallel, typeof setResult)"
    assert js(code).stdout == "undefined undefined function\n"
    assert js(code, tools=[add]).stdout == "function function function\n"


def test_tools_are_called_and_their_failures_are_errors() -> None:
    code = """
console.log(await callTool('add', {a: 2, b: 3}), await callTool('shout', {text: 'ä'}));
console.log((await callToolsParallel([...[0, 1].map((a) => ['add', {a}]), {name: 'add', args: {a: 5}}])).join());
for (const call of [() => callTool('fail', {text: 'x'}), () => callTool('ad'), () => callTool(7), () => callToolsParallel([['add', {a: 1}], ['fail', {text: 'y'}]])]) {
  try { await call(); } catch (error) { console.log(error instanceof Error, error.message.slice(0, 40)); }
}
"""
    result = js(code, tools=[add, shout, fail])
    assert result.stderr == ""
    lines = result.stdout.splitlines()
    assert lines[:2] == ["5 Ä", "1,2,6"]
    assert [line.split()[0] for line in lines[2:]] == ["true"] * 4
    assert "nothing called x" in lines[2]
    assert "nothing called y" in lines[5]
    assert [call["name"] for call in result.calls][:3] == ["add", "shout", "add"]


def test_a_tool_that_runs_code_is_refused() -> None:
    def execute_code(code: str) -> str:
        """Runs code."""
        raise AssertionError("it was called")

    code = "await callTool('execute_code', {code: '1'}).catch((e) => console.log('refused'))"
    assert js(code, tools=[execute_code]).stdout == "refused\n"


# ---------------------------------------------------------------------------- limits


def test_the_time_limit_ends_it() -> None:
    result = js("console.log(1); for (;;);", timeout_ms=300)
    assert (result.killed, result.exit_code, result.reason) == (True, 137, "time limit of 300 ms")
    assert result.stdout == "1\n"


def test_memory_is_bounded() -> None:
    result = js(
        "const a = []; for (;;) a.push(new Array(1000).fill(1))", memory_limit_bytes=32 * MIB
    )
    assert (result.oom, result.killed, result.exit_code) == (True, False, 137)
    assert result.reason == "memory limit of 32 MiB"


def test_the_head_of_the_output_is_kept() -> None:
    result = js("for (let n = 0; n < 1000; n++) console.log('x'.repeat(99))", output_bytes=1000)
    assert (result.truncated, result.stdout) == (True, ("x" * 99 + "\n") * 10)


def test_terminating_and_cancelling_end_it() -> None:
    run = run_program("for (;;);", "js")
    run.terminate("enough")
    result = run.wait(SETTLE_SECONDS)
    assert (result.killed, result.reason, result.exit_code) == (True, "enough", 137)


def test_deleting_its_workspace_ends_it() -> None:
    workspaces = Workspaces()
    run = run_program("for (;;);", "js", session="s", workspaces=workspaces)
    assert until(lambda: run.started)
    workspaces.delete("s")
    assert run.wait(SETTLE_SECONDS).reason == "its workspace was deleted"


def test_one_program_at_a_time_in_a_session() -> None:
    workspaces = Workspaces()
    append = "import fs from 'fs'; fs.appendFileSync('log', args[0]); for (let n = 0; n < 1e6; n++); fs.appendFileSync('log', args[0])"
    runs = [
        run_program(append, "js", args=[name], session="s", workspaces=workspaces) for name in "abc"
    ]
    for run in runs:
        assert run.wait(SETTLE_SECONDS).exit_code == 0
    code = "import fs from 'fs'; console.log(fs.readFileSync('log', 'utf8'))"
    log = js(code, session="s", workspaces=workspaces).stdout.strip()
    assert {log[:2], log[2:4], log[4:]} == {"aa", "bb", "cc"}


def test_closing_programs_ends_it() -> None:
    programs = Programs(spares=0)
    run = run_program("for (;;);", "js", engine=programs)
    assert until(lambda: run.started)
    programs.close()
    with pytest.raises(EngineClosedError):
        run.wait(SETTLE_SECONDS)


def test_bad_input_is_refused_before_anything_runs() -> None:
    for options in ({"files": {"../x": ""}}, {"timeout_ms": 0}, {"session": "/"}):
        with pytest.raises(OptionError):
            run_program("1", "js", **options)


def test_a_policy_stands_before_its_calls_and_they_are_recorded() -> None:
    code = "await callTool('add', {a: 1}).catch((e) => console.log(e.message))"
    policy = Policy({"add": "deny"})
    result = js(code, tools=[add], policy=policy)
    assert "add" in result.stdout
    assert [(call["name"], call["outcome"]) for call in result.calls] == [("add", "denied")]
