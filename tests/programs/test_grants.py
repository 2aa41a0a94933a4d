"""`allow=`: what a program is lent of its caller's machine, and nothing beside it."""

from __future__ import annotations

import json
import os
import socket
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from sandbox_kernel.errors import EngineError, OptionError
from sandbox_kernel.programs import ProgramResult, Programs
from sandbox_kernel.programs.binaries import is_installed
from sandbox_kernel.run import run_program
from sandbox_kernel.sessions import Workspaces
from tests.processes import gone
from tests.programs.conftest import Run
from tests.waiting import until

LANGUAGES = [name for name in ("python", "node", "deno", "javascript") if is_installed(name)]
needs_deno = pytest.mark.skipif(not is_installed("deno"), reason="there is no Deno here")

READ = {
    "python": "print(open({path!r}).read())",
    "node": "console.log(require('fs').readFileSync({path!r}, 'utf8'))",
    "deno": "console.log(Deno.readTextFileSync({path!r}))",
    "javascript": "import fs from 'fs'; console.log(fs.readFileSync({path!r}, 'utf8'))",
}
WRITE = {
    "python": "open({path!r}, 'w').write('new')",
    "node": "require('fs').writeFileSync({path!r}, 'new')",
    "deno": "Deno.writeTextFileSync({path!r}, 'new')",
    "javascript": "import fs from 'fs'; fs.writeFileSync({path!r}, 'new')",
}


@pytest.fixture
def folder(monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The caller's, where it works."""
    with callers_folder() as path:
        monkeypatch.chdir(path)
        yield path


@contextmanager
def callers_folder() -> Iterator[Path]:
    """Which other users may use: a program of root's has a user of its own."""
    with tempfile.TemporaryDirectory(prefix="grants-") as made:
        path = Path(made)
        path.chmod(0o755)
        (path / "data" / "sub").mkdir(parents=True)
        (path / "data" / "sub" / "x.txt").write_text("lent")
        (path / "one.csv").write_text("1,2")
        (path / "secret").write_text("hunter2")
        (path / "out").mkdir()
        (path / "out").chmod(0o777)
        yield path


@pytest.mark.parametrize("language", LANGUAGES)
def test_what_is_lent_is_found_by_both_kinds_of_names(
    run: Run, folder: Path, language: str
) -> None:
    for path in ("data/sub/x.txt", str(folder / "data" / "sub" / "x.txt")):
        named = "data" if path.startswith("data") else str(folder / "data")
        result = run(READ[language].format(path=path), language=language, allow={"read": [named]})
        assert (result.stdout, result.stderr) == ("lent\n", "")
        assert result.output_files == []


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_single_file_is_lent_without_its_neighbours(
    run: Run, folder: Path, language: str
) -> None:
    allow = {"read": ["one.csv", str(folder / "one.csv")]}
    ok = run(READ[language].format(path="one.csv"), language=language, allow=allow)
    assert (ok.stdout, ok.output_files) == ("1,2\n", [])
    neighbour = str(folder / "secret")
    no = run(READ[language].format(path=neighbour), language=language, allow=allow)
    assert no.exit_code == 1
    assert "hunter2" not in no.logs


@pytest.mark.parametrize("language", LANGUAGES)
def test_what_is_lent_for_reading_is_not_written(run: Run, folder: Path, language: str) -> None:
    (folder / "data").chmod(0o777)
    for path in ("data/new", "data/sub/x.txt", str(folder / "data" / "new")):
        allow = {"read": ["data", str(folder / "data")]}
        assert run(WRITE[language].format(path=path), language=language, allow=allow).exit_code == 1
    assert sorted(os.listdir(folder / "data")) == ["sub"]
    assert (folder / "data" / "sub" / "x.txt").read_text() == "lent"


@pytest.mark.parametrize("language", LANGUAGES)
def test_what_is_lent_for_writing_is_written_and_is_no_output_of_the_program(
    run: Run, folder: Path, language: str
) -> None:
    result = run(
        WRITE[language].format(path="out/new"), language=language, allow={"write": ["out"]}
    )
    assert (result.stderr, result.output_files) == ("", [])
    assert (folder / "out" / "new").read_text() == "new"


@pytest.mark.parametrize("language", LANGUAGES)
def test_variables_are_copied_by_name(
    run: Run, monkeypatch: pytest.MonkeyPatch, language: str
) -> None:
    monkeypatch.setenv("LENT_VARIABLE", "lent")
    monkeypatch.setenv("OTHER_VARIABLE", "kept")
    code = {
        "python": "import os; print(os.environ.get('LENT_VARIABLE'), os.environ.get('OTHER_VARIABLE'))",
        "node": "console.log(process.env.LENT_VARIABLE, process.env.OTHER_VARIABLE)",
        "deno": "const get = (name) => { try { return Deno.env.get(name) } catch {} };"
        "console.log(get('LENT_VARIABLE'), get('OTHER_VARIABLE'))",
        "javascript": "console.log(env.LENT_VARIABLE, env.OTHER_VARIABLE)",
    }[language]
    only = run(code, language=language, allow={"env": ["LENT_VARIABLE", "NOT_THERE"]})
    assert only.stdout.split() in (["lent", "None"], ["lent", "undefined"])
    everything = run(code, language=language, allow={"env": True}, env={"OTHER_VARIABLE": "given"})
    assert everything.stdout == "lent given\n"


def test_everything_may_be_lent(run: Run, folder: Path) -> None:
    code = "import os; print(open('/etc/hostname').read() == os.uname().nodename or 'read')\nopen('/etc/new', 'w')"
    result = run(code, allow={"read": True})
    assert result.stdout
    assert result.exit_code == 1
    assert not os.path.exists("/etc/new")


# ---------------------------------------------------------------------------- attacks on it

ESCAPES = {
    "a link in it to a file outside": "print(open('data/link').read())",
    "dots out of it": "print(open('data/../secret').read())",
    "dots out of its absolute name": "print(open(os.path.join(base, 'data', '..', 'secret')).read())",
    "its neighbour": "print(open(os.path.join(base, 'secret')).read())",
    "the folder above it": "assert len(os.listdir(base + '/..')) > 1",
    "a hard link out of it": "os.link('data/sub/x.txt', 'stolen'); open('stolen', 'a')",
    "a rename out of it": "os.rename('data/sub/x.txt', 'stolen')",
    "a file of another's in it, removed": "os.unlink('data/sub/x.txt')",
    "a link in it to outside, made": "os.symlink(base + '/secret', 'data/new')",
    "a setuid file": "os.umask(0); os.open('out/setuid', os.O_CREAT | os.O_WRONLY, 0o6755)",
    "a setuid folder": "os.umask(0); os.mkdir('out/folder', 0o6777)",
    "a device": "os.mknod('out/device', 0o20666, os.makedev(1, 3))",
    "a program in it": "os.execv('data/sub/x.txt', ['x'])",
    "a socket in it": "import socket; socket.socket(socket.AF_UNIX).connect(base + '/out/socket')",
    "the network": "import socket; socket.socket()",
    "a mount on it": "import ctypes; 1 / (not ctypes.CDLL(None).mount(b'/', b'data', b'', 4096, 0))",
    "the link of its own directory, replaced": "os.unlink('data'); os.symlink(base, 'data'); print(open('data/secret').read())",
    "what was set aside for it": "print(os.listdir('/run/granted'))",
    "other programs' files": "print(os.listdir(os.path.dirname(os.path.dirname(os.getcwd()))) if os.getcwd() != '/box' else os.listdir('/run/workspaces'))",
}


TRY_ALL = """
import json, os, sys
base, attacks = json.load(sys.stdin)
outcomes = {}
for name, code in attacks.items():
    try:
        exec(code)
        outcomes[name] = 'got through'
    except BaseException as error:
        outcomes[name] = f'{type(error).__name__}: {error}'
set_result(outcomes)
"""


@pytest.fixture(scope="module")
def escaped(run: Run) -> dict[str, Any]:
    """What came of each attack, all tried by one program, and what is lent afterwards."""
    with (
        pytest.MonkeyPatch.context() as patch,
        callers_folder() as folder,
        socket.socket(socket.AF_UNIX) as listener,
    ):
        patch.chdir(folder)
        (folder / "data" / "link").symlink_to(folder / "secret")
        listener.bind("out/socket")
        listener.listen()
        allow = {"read": ["data", str(folder / "data")], "write": ["out"]}
        result = run(TRY_ALL, stdin=json.dumps([str(folder), ESCAPES]), allow=allow)
        assert result.exit_code == 0, result.logs
        return {
            "outcomes": result.result,
            "said": result.logs,
            "content": (folder / "data" / "sub" / "x.txt").read_text(),
            "data": sorted(os.listdir(folder / "data")),
            "out": sorted(os.listdir(folder / "out")),
        }


@pytest.mark.parametrize("attack", ESCAPES)
def test_nothing_beside_what_is_lent_is_reached(escaped: dict[str, Any], attack: str) -> None:
    assert not escaped["outcomes"][attack].startswith(("got through", "NameError", "SyntaxError"))


def test_what_is_lent_is_as_it_was(escaped: dict[str, Any]) -> None:
    assert "hunter2" not in escaped["said"]
    assert escaped["content"] == "lent"
    assert (escaped["data"], escaped["out"]) == (["link", "sub"], ["socket"])


def test_modes_of_lent_files_stay_as_they_are(run: Run, folder: Path) -> None:
    code = "import os; open('out/new', 'w'); os.chmod('out/new', 0o4777); os.chmod('out', 0o700)"
    assert run(code, allow={"write": ["out"]}).exit_code == 0
    assert (folder / "out" / "new").stat().st_mode & 0o7000 == 0
    assert (folder / "out").stat().st_mode & 0o777 == 0o777


def test_the_next_program_has_nothing_of_it(run: Run, folder: Path) -> None:
    path = str(folder / "data" / "sub" / "x.txt")
    assert run(READ["python"].format(path=path), allow={"read": [str(folder / "data")]}).stdout
    assert run(READ["python"].format(path=path)).exit_code == 1


def test_it_has_a_zygote_for_itself_which_is_gone_afterwards(level: str, folder: Path) -> None:
    with Programs(isolation=level, spares=1) as programs:
        run_program("1", engine=programs).wait(60)
        before = set(programs.processes().zygotes)
        held = run_program("input()", allow={"read": ["data"]}, engine=programs)
        assert until(lambda: set(programs.processes().zygotes) - before)
        own = set(programs.processes().zygotes) - before
        held.terminate()
        held.wait(60)
        assert until(lambda: all(map(gone, own)))


def test_a_workspace_is_left_as_it_was(run: Run, folder: Path) -> None:
    workspaces = Workspaces()
    options: dict[str, Any] = {"session": "s", "workspaces": workspaces}
    allow = {"read": ["data", "one.csv"]}
    assert run(READ["python"].format(path="one.csv"), allow=allow, **options).stdout == "1,2\n"
    result = run("import os; print(os.listdir()); open('one.csv', 'w').write('mine')", **options)
    assert result.stdout == "[]\n"
    with pytest.raises(EngineError, match=r"one.csv is in the program's directory already"):
        run("1", allow=allow, **options)
    assert run("print(open('one.csv').read())", **options).stdout == "mine\n"


def test_a_link_that_an_earlier_program_left_is_not_followed_for_a_place(
    run: Run, folder: Path
) -> None:
    workspaces = Workspaces()
    options: dict[str, Any] = {"session": "s", "workspaces": workspaces}
    (folder / "nested").mkdir()
    (folder / "nested" / "x").write_text("x")
    run(f"import os; os.symlink({str(folder / 'out')!r}, 'nested')", **options)
    with pytest.raises(EngineError):
        run("1", allow={"read": ["nested/x"]}, **options)
    assert os.listdir(folder / "out") == []


# ---------------------------------------------------------------------------- the network


@pytest.fixture
def port() -> Iterator[int]:
    with serving_hello() as found:
        yield found


@contextmanager
def serving_hello() -> Iterator[int]:
    """The port of a server that says hello."""
    with socket.create_server(("127.0.0.1", 0)) as server:

        def serve() -> None:
            while True:
                try:
                    connection, _ = server.accept()
                except OSError:
                    return
                with connection:
                    connection.sendall(b"hello")

        threading.Thread(target=serve, daemon=True).start()
        yield server.getsockname()[1]
        server.shutdown(socket.SHUT_RDWR)


@pytest.fixture
def deno(run: Run) -> Run:
    def settled(code: str, **options: Any) -> ProgramResult:
        return run(code, language="deno", **options)

    return settled


CONNECT = """
const connection = await Deno.connect({{ hostname: {host!r}, port: {port} }});
console.log(new TextDecoder().decode((await new Response(connection.readable).arrayBuffer())));
"""


@needs_deno
@pytest.mark.parametrize("host", ["127.0.0.1", "localhost"])
def test_a_host_that_is_allowed_is_reached_also_by_its_name(
    deno: Run, port: int, host: str
) -> None:
    result = deno(CONNECT.format(host=host, port=port), allow={"net": [f"{host}:{port}"]})
    assert (result.stdout, result.stderr) == ("hello\n", "")
    assert deno(CONNECT.format(host=host, port=port), allow={"net": True}).stdout == "hello\n"


@needs_deno
def test_other_hosts_and_programs_without_it_reach_nothing(deno: Run, port: int) -> None:
    code = CONNECT.format(host="127.0.0.1", port=port)
    assert "NotCapable" in deno(code, allow={"net": ["example.com"]}).stderr
    assert "NotCapable" in deno(code).stderr


NET_ATTACKS = {
    "a socket with a path": "await Deno.connect({ transport: 'unix', path: PATH })",
    "node's socket with a path": "await new Promise((ok, no) => net.connect(PATH).on('connect', ok).on('error', no))",
    "an abstract socket": "await new Promise((ok, no) => net.connect(ABSTRACT).on('connect', ok).on('error', no))",
    "a program": "await new Deno.Command('/bin/true').output()",
    "node's program": "require('node:child_process').execFileSync('/bin/true')",
    "a native library": "Deno.dlopen('/lib/x86_64-linux-gnu/libc.so.6', {})",
    "a module from the network": "await import('http://127.0.0.1:' + PORT + '/x.js')",
    "a package": "await import('npm:left-pad')",
    "files of the host": "if (!Deno.readTextFileSync('/etc/passwd').includes('root:')) throw new Error('not the hosts')",
    "the environment of the host": "Deno.readTextFileSync('/proc/' + HOST + '/environ')",
    "the host, killed": "Deno.kill(HOST, 'SIGKILL')",
    "more permissions": "if ((await Deno.permissions.request({ name: 'run' })).state !== 'granted') throw new Error('refused')",
}


TRY_ALL_IN_DENO = """
import net from 'node:net';
import { createRequire } from 'node:module';
const require = createRequire(import.meta.url);
const [PATH, PORT, HOST, attacks] = JSON.parse(await new Response(Deno.stdin.readable).text());
const Later = Object.getPrototypeOf(async () => {}).constructor;
const outcomes: Record<string, string> = {};
for (const [name, code] of Object.entries(attacks)) {
  try {
    await new Later('net', 'require', 'PATH', 'PORT', 'HOST', code)(net, require, PATH, PORT, HOST);
    outcomes[name] = 'got through';
  } catch (error) {
    outcomes[name] = String(error);
  }
}
setResult(outcomes);
"""


@pytest.fixture(scope="module")
def from_the_network(run: Run) -> dict[str, str]:
    """What came of each attack, all tried by one program."""
    with (
        pytest.MonkeyPatch.context() as patch,
        callers_folder() as folder,
        serving_hello() as port,
        socket.socket(socket.AF_UNIX) as listener,
        socket.socket(socket.AF_UNIX) as abstract,
    ):
        patch.chdir(folder)
        name = f"\0abstract-{os.getpid()}"
        for each, address in ((listener, "out/socket"), (abstract, name)):
            each.bind(address)
            each.listen()
        attacks = {
            key: code.replace("ABSTRACT", json.dumps(name)) for key, code in NET_ATTACKS.items()
        }
        given = json.dumps([str(folder / "out" / "socket"), port, os.getpid(), attacks])
        result = run(TRY_ALL_IN_DENO, language="deno", stdin=given, allow={"net": True})
        assert result.exit_code == 0, result.logs
        outcomes: dict[str, str] = result.result
        return outcomes


@needs_deno
@pytest.mark.parametrize("attack", NET_ATTACKS)
def test_the_network_opens_nothing_else(from_the_network: dict[str, str], attack: str) -> None:
    outcome = from_the_network[attack]
    assert not outcome.startswith(("got through", "ReferenceError", "SyntaxError"))


# ---------------------------------------------------------------------------- refused at once

REFUSED: list[tuple[Any, str]] = [
    (["data"], "allow must be a mapping of read, write, net, env, not list"),
    ({"reed": ["data"]}, "allow has an unknown kind 'reed'; did you mean read?"),
    ({"read": "data"}, "allow.read must be True or a list of text, not str"),
    ({"read": [1]}, "allow.read must be a list of text, not with int in it"),
    ({"read": [""]}, "allow.read has '', which names nothing"),
    ({"read": ["missing"]}, "allow has 'missing': No such file or directory"),
    ({"read": ["../x"]}, "cannot have the same name in the program's directory; write it as"),
    ({"read": ["."]}, "cannot have the same name in the program's directory; write it as"),
    ({"read": ["/"]}, "which is everything; write True"),
    ({"read": ["/proc/self"]}, "the machine's own, or the program's, and is never lent"),
    ({"write": ["/dev/null"]}, "the machine's own, or the program's, and is never lent"),
    ({"read": ["/tmp"]}, "which programs have of their own; name what you mean in it"),
    ({"read": ["fifo"]}, "which is neither a file nor a folder"),
    ({"read": ["to-proc"]}, "the machine's own, or the program's, and is never lent"),
    ({"net": True}, "has net, which is for Deno programs only, not for Python"),
    ({"read": ["data"] * 101}, "has 101 paths, or too long ones"),
]


@pytest.mark.parametrize(("allow", "message"), REFUSED, ids=lambda value: str(value)[:40])
def test_what_cannot_be_lent_is_refused_before_anything_runs(
    folder: Path, allow: Any, message: str
) -> None:
    os.mkfifo("fifo")
    os.symlink("/proc/self", "to-proc")
    with pytest.raises(OptionError) as caught:
        run_program("1", allow=allow)
    assert message in str(caught.value)


@needs_deno
@pytest.mark.parametrize("host", ["http://example.com", "a,b", "--allow-run", "a b"])
def test_a_host_is_a_name_and_perhaps_a_port(host: str) -> None:
    with pytest.raises(OptionError, match=r"write a host or host:port"):
        run_program("1", "deno", allow={"net": [host]})


def test_a_name_is_either_lent_or_an_input(folder: Path) -> None:
    with pytest.raises(OptionError, match=r"allow and files both have 'one.csv'"):
        run_program("1", allow={"read": ["one.csv"]}, files={"one.csv": ""})


@pytest.mark.skipif(os.getuid() != 0, reason="programs of others have their user's rights")
def test_a_program_of_root_is_refused_what_its_own_user_could_not_use(
    folder: Path, level: str, programs: Programs
) -> None:
    (folder / "secret").chmod(0o600)
    (folder / "out").chmod(0o755)
    with pytest.raises(OptionError, match=r"cannot be read by other users than root"):
        run_program("1", allow={"read": ["secret"]}, engine=programs)
    with pytest.raises(OptionError, match=r"cannot be written by other users than root"):
        run_program("1", allow={"write": ["out"]}, engine=programs)
    folder.chmod(0o700)
    if level == "landlock":
        with pytest.raises(OptionError, match=r"is closed to other users than root"):
            run_program("1", allow={"read": ["data"]}, engine=programs)
    else:
        assert (
            run_program(
                READ["python"].format(path="data/sub/x.txt"),
                allow={"read": ["data"]},
                engine=programs,
            )
            .wait(60)
            .stdout
            == "lent\n"
        )


SCRIPT_ESCAPES = {
    "a link in it": "fs.readFileSync('data/link', 'utf8')",
    "dots out of it": "fs.readFileSync('data/../secret', 'utf8')",
    "dots out of its absolute name": "fs.readFileSync(base + '/data/../secret', 'utf8')",
    "its neighbour": "fs.readFileSync(base + '/secret', 'utf8')",
    "a name that begins alike": "fs.readFileSync(base + '/data-too', 'utf8')",
    "a write": "fs.writeFileSync('data/new', '')",
    "a removal": "fs.rmSync('data/sub/x.txt')",
    "all of it removed": "fs.rmSync('data', { recursive: true })",
    "a rename into the directory": "fs.renameSync('data/sub/x.txt', 'stolen')",
    "a rename out of the directory": "fs.writeFileSync('mine', ''); fs.renameSync('mine', 'data/mine')",
    "a name with a separator in it": "fs.readFileSync(base + '/data' + '//../secret', 'utf8')",
}


@pytest.mark.parametrize("attack", SCRIPT_ESCAPES)
def test_a_script_reaches_nothing_beside_what_is_lent(folder: Path, attack: str) -> None:
    (folder / "data" / "link").symlink_to(folder / "secret")
    (folder / "data-too").write_text("hunter2")
    code = (
        f"import fs from 'fs'; const base = {str(folder)!r}; console.log({SCRIPT_ESCAPES[attack]})"
    )
    code = code.replace(
        "console.log(fs.writeFileSync('mine', '');", "fs.writeFileSync('mine', ''); console.log("
    )
    allow = {"read": ["data", str(folder / "data")]}
    result = run_program(code, "javascript", allow=allow).wait(60)
    assert result.exit_code == 1, result.stdout
    assert "Error: E" in result.stderr
    assert "hunter2" not in result.logs
    assert sorted(os.listdir(folder / "data")) == ["link", "sub"]
    assert (folder / "data" / "sub" / "x.txt").read_text() == "lent"
