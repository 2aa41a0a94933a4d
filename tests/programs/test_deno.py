"""A Deno program finds what `deno run program.ts` would find, and nothing of the machine."""

from __future__ import annotations

import asyncio
import importlib.util
import os
import sys
from pathlib import Path
from typing import Any

import pytest

from sandbox_kernel.errors import EngineError
from sandbox_kernel.programs import ProgramResult, Programs
from sandbox_kernel.programs.binaries import find_binary
from sandbox_kernel.programs.settings import Settings
from sandbox_kernel.run import run_program
from tests.processes import gone
from tests.programs.conftest import Run
from tests.programs.test_tools import add, fail, shout
from tests.waiting import until

MIB = 2**20


def _is_there() -> bool:
    try:
        return find_binary("deno", Settings()) is not None
    except EngineError:
        return False


pytestmark = pytest.mark.skipif(not _is_there(), reason="there is no Deno here")


@pytest.fixture
def deno(run: Run) -> Run:
    def settled(code: str, **options: Any) -> ProgramResult:
        return run(code, language="deno", **options)

    return settled


# ---------------------------------------------------------------------------- as users expect it


def test_a_program_in_typescript_prints_and_ends(deno: Run) -> None:
    result = deno("const n: number = 6;\nconsole.log(n * 7); console.error('careful')")
    assert (result.stdout, result.stderr, result.exit_code) == ("42\n", "careful\n", 0)
    assert (result.output_files, result.files, result.killed) == ([], [], False)


def test_it_is_the_main_module_with_its_arguments(deno: Run) -> None:
    code = "console.log(import.meta.main, Deno.mainModule === import.meta.url, Deno.args)"
    result = deno(code, args=["-a", "--allow-all", "b c"])
    assert result.stdout == 'true true [ "-a", "--allow-all", "b c" ]\n'


def test_input_files_are_imported_and_files_come_back(deno: Run) -> None:
    code = """
import { double } from './lib.ts';
import data from './data.json' with { type: 'json' };
Deno.writeTextFileSync('out.txt', String(double(data.n)) + await Deno.readTextFile('more.txt'));
"""
    files = {
        "lib.ts": "export const double = (n: number): number => n * 2;",
        "data.json": '{"n": 21}',
        "more.txt": "!",
    }
    result = deno(code, files=files)
    assert (result.stderr, [(f.name, f.data) for f in result.output_files]) == (
        "",
        [("out.txt", b"42!")],
    )


def test_a_file_of_the_programs_own_name_is_left_alone(deno: Run) -> None:
    code = (
        "import own from './program.ts'; console.log(own, import.meta.filename!.split('/').at(-1))"
    )
    result = deno(code, files={"program.ts": "export default 'mine';"})
    assert (result.stdout, result.output_files) == ("mine program-1.ts\n", [])


def test_stdin_and_the_environment_are_its_own(deno: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SECRET_OF_THE_HOST", "x")
    code = """
console.log((await new Response(Deno.stdin.readable).text()).trim(), Deno.env.get('A'));
console.log(Object.keys(Deno.env.toObject()).filter((n) => !n.startsWith('DENO_')).sort().join());
"""
    result = deno(code, stdin="hello\n", env={"A": "b"})
    assert result.stdout == "hello b\n"
    assert "Requires env access" in result.stderr
    result = deno(code, stdin="hello\n", env={"A": "b"}, allow={"env": True})
    said, names = result.stdout.splitlines()
    assert said == "hello b"
    assert {"A", "HOME", "LANG", "NO_COLOR", "SECRET_OF_THE_HOST", "USER"} <= {*names.split(",")}


def test_what_tells_of_tools_is_no_variable_of_its_own(deno: Run) -> None:
    code = (
        "console.log(Deno.permissions.querySync({ name: 'env', variable: 'SANDBOX_TOOLS' }).state)"
    )
    assert deno(code).stdout == "prompt\n"


def test_an_uncaught_error_has_its_line_and_exit_code_1(deno: Run) -> None:
    result = deno("const a = 1;\nthrow new TypeError(`no ${a}`);")
    assert result.exit_code == 1
    assert "TypeError: no 1" in result.stderr
    assert "program.ts:2" in result.stderr
    assert "\x1b" not in result.stderr


@pytest.mark.parametrize(
    ("code", "exit_code"),
    [("Deno.exit(3)", 3), ("await new Promise(() => {})", 1), ("this is no program", 1)],
)
def test_exit_codes_are_denos_own(deno: Run, code: str, exit_code: int) -> None:
    assert deno(code).exit_code == exit_code


def test_the_source_is_gone_from_the_workspace_of_a_session(deno: Run, run: Run) -> None:
    deno("Deno.writeTextFileSync('n', '41')", session="deno-session")
    result = run("import os; print(os.listdir(), open('n').read())", session="deno-session")
    assert result.stdout == "['n'] 41\n"


def test_timers_workers_and_webassembly_work(deno: Run) -> None:
    code = """
await new Promise((resolve) => setTimeout(resolve, 5));
const source = URL.createObjectURL(new Blob(['postMessage(6 * 7)'], { type: 'text/javascript' }));
const worker = new Worker(source, { type: 'module' });
console.log(await new Promise((resolve) => { worker.onmessage = (e) => resolve(e.data); }));
worker.terminate();
console.log(new WebAssembly.Memory({ initial: 1 }).buffer.byteLength);
"""
    result = deno(code)
    assert (result.stdout, result.stderr) == ("42\n65536\n", "")


# ---------------------------------------------------------------------------- results and tools


def test_results_and_their_files(deno: Run) -> None:
    result = deno("Deno.writeTextFileSync('a.csv', '1'); setResult({ok: true}, ['a.csv'])")
    assert (result.result, [file.name for file in result.files]) == ({"ok": True}, ["a.csv"])


def test_a_large_result_arrives_whole(deno: Run) -> None:
    assert len(deno("setResult('x'.repeat(3 << 20))").result) == 3 * MIB
    assert deno("setResult('x'.repeat(100_000)); Deno.exit(0)").result == "x" * 100_000


def test_what_is_not_lent_is_not_there(deno: Run) -> None:
    code = "console.log(['callTool', 'callToolsParallel', 'setResult'].filter((n) => n in globalThis).join())"
    assert deno(code).stdout == "setResult\n"
    assert deno(code, tools=[add]).stdout == "callTool,callToolsParallel,setResult\n"


def test_a_program_may_use_these_names_for_itself(deno: Run) -> None:
    assert deno("globalThis.setResult = 7; console.log(setResult)").stdout == "7\n"
    assert deno("const setResult = 8; console.log(setResult)").stdout == "8\n"
    assert deno("setResult(1); setResult(2)").result == 2


def test_tools_are_called_and_their_failures_are_errors_with_a_place(deno: Run) -> None:
    code = """
console.log(await callTool('add', {a: 2, b: 3}), await callTool('shout', {text: 'ä'}));
console.log((await callToolsParallel([0, 1, 2].map((a) => ['add', {a}]))).join());
try {
  await callTool('fail', {text: 'x'});
} catch (error) {
  console.log(error instanceof Error, error.message, error.stack.includes('program.ts:5'));
}
"""
    result = deno(code, tools=[add, shout, fail])
    assert result.stderr == ""
    assert result.stdout == "5 Ä\n1,2,3\ntrue fail: nothing called x true\n"
    assert len(result.calls) == 6


def test_exiting_does_not_wait_for_an_answer(deno: Run) -> None:
    async def forever() -> None:
        """Never ends."""
        await asyncio.sleep(600)

    result = deno("callTool('forever'); setTimeout(() => Deno.exit(3), 10)", tools=[forever])
    assert result.exit_code == 3


# ---------------------------------------------------------------------------- limits


@pytest.mark.parametrize(
    "code",
    [
        "const a = []; for (;;) a.push(new Array(1000).fill({}))",
        "const a = []; for (;;) a.push(new Uint8Array(1 << 24).fill(1))",
        "const a = []; for (;;) { const m = new WebAssembly.Memory({ initial: 256 }); new Uint8Array(m.buffer).fill(1); a.push(m); }",
        "const a = []; for (;;) a.push(new Uint8Array(new SharedArrayBuffer(1 << 24)).fill(1))",
    ],
    ids=["objects", "buffers", "webassembly", "shared buffers"],
)
def test_memory_is_bounded(deno: Run, code: str) -> None:
    result = deno(code, memory_limit_bytes=128 * MIB)
    assert (result.oom, result.killed) == (True, False)
    assert result.exit_code != 0


def test_the_time_limit_kills_and_the_head_of_the_output_is_kept(deno: Run) -> None:
    result = deno("for (;;) console.log('x'.repeat(999))", timeout_ms=1500, output_bytes=5000)
    assert (result.killed, result.exit_code, result.truncated) == (True, 137, True)
    assert result.stdout == ("x" * 999 + "\n") * 5


# ---------------------------------------------------------------------------- being ready


async def test_a_place_waits_for_the_next_deno_program(level: str) -> None:
    with Programs(isolation=level, spares=1) as programs:
        assert (await run_program("1", "deno", engine=programs)).exit_code == 0
        await asyncio.to_thread(until, lambda: programs.processes().spares == 2)
        assert (await run_program("2", "deno", engine=programs)).queued_ms < 10_000


def test_nothing_is_left_of_it(level: str) -> None:
    with Programs(isolation=level, spares=0) as programs:
        run_program("console.log(1)", "deno", engine=programs).wait(60)
        pids = programs.processes().zygotes
    assert pids
    assert all(map(gone, pids))


# ---------------------------------------------------------------------------- finding it


def test_a_missing_deno_is_an_error_that_says_how_to_get_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    with pytest.raises(EngineError, match=r"Deno was not found; install Deno, or `pip install"):
        find_binary("deno", Settings())
    with Programs(deno="/nowhere/deno", spares=0) as programs:
        handle = run_program("1", "deno", engine=programs)
        with pytest.raises(EngineError, match="'/nowhere/deno' was not found"):
            handle.wait(60)


def test_something_else_is_not_taken_for_deno(tmp_path: Path) -> None:
    fake = tmp_path / "deno"
    fake.write_text("#!/bin/sh\necho hello\n")
    fake.chmod(0o755)
    with pytest.raises(EngineError, match=r"does not work as Deno"):
        find_binary("deno", Settings(deno=str(fake)))


def test_the_wheel_serves_where_there_is_no_other(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = find_binary("deno", Settings())
    assert real is not None
    package = tmp_path / "deno"
    package.mkdir()
    (package / "__init__.py").write_text(f"def find_deno_bin(): return {real.path!r}")
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.delitem(sys.modules, "deno", raising=False)
    monkeypatch.setenv("PATH", "/nowhere")
    found = find_binary("deno", Settings())
    assert found is not None
    assert found.path == os.path.realpath(real.path)
