"""`sandbox-kernel run` of a Python program: it behaves as the program would by itself."""

from __future__ import annotations

import json
import os
import pty
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import psutil
import pytest

from sandbox_kernel.errors import IsolationError
from sandbox_kernel.programs import Programs
from tests.cli.command import COMMAND, command, started
from tests.processes import gone
from tests.waiting import until


@pytest.fixture(scope="module", autouse=True)
def _isolation() -> None:
    if sys.platform != "linux":
        pytest.skip("programs need Linux")
    try:
        with Programs() as programs:
            programs.doctor()
    except IsolationError as error:
        pytest.skip(str(error))


def program(folder: Path, text: str) -> str:
    (folder / "program.py").write_text(text)
    return str(folder / "program.py")


def test_a_program_has_stdin_arguments_and_an_exit_code(tmp_path: Path) -> None:
    text = "import sys\nprint(sys.argv[1:], input())\nprint('why', file=sys.stderr)\nsys.exit(7)"
    done = command("run", program(tmp_path, text), "a", "--", "--b", stdin="hello\n")
    assert (done.returncode, done.stdout, done.stderr) == (7, "['a', '--b'] hello\n", "why\n")


def test_a_program_of_node_runs_by_its_suffix(tmp_path: Path) -> None:
    if shutil.which("node") is None:
        pytest.skip("needs Node.js")
    (tmp_path / "program.cjs").write_text(
        "console.log(require('path').sep, process.argv[2]); process.exit(3)"
    )
    done = command("run", str(tmp_path / "program.cjs"), "a")
    assert (done.returncode, done.stdout) == (3, "/ a\n"), done.stderr


def test_a_program_that_fails_shows_its_traceback(tmp_path: Path) -> None:
    done = command("run", program(tmp_path, "x = 1\nraise ValueError(x)"))
    assert done.returncode == 1
    assert done.stderr.endswith("ValueError: 1\n")
    assert 'File "program.py", line 2' in done.stderr


def test_a_program_is_isolated_and_its_files_are_not_kept(tmp_path: Path) -> None:
    (tmp_path / "secret.txt").write_text("secret")
    text = (
        f"import os\nopen('new.txt', 'w')\nprint(os.listdir(), os.path.exists({str(tmp_path)!r}))"
    )
    done = command("run", program(tmp_path, text), folder=tmp_path)
    assert done.stdout == "['new.txt'] False\n"
    assert "files that it wrote are not kept (--out DIR keeps them): new.txt" in done.stderr
    assert not (tmp_path / "new.txt").exists()


def test_files_that_it_writes_are_kept_on_request(tmp_path: Path) -> None:
    text = (
        "import os\nos.makedirs('deep/er')\nopen('deep/er/a.txt', 'w').write('a')\n"
        "open(b'\\xff.txt', 'w').write('b')\nos.symlink('/etc/passwd', 'link')"
    )
    done = command("run", program(tmp_path, text), "--out", "kept/here", folder=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    found = sorted(str(each.relative_to(tmp_path)) for each in (tmp_path / "kept").rglob("*.txt"))
    assert found == ["kept/here/\\xff.txt", "kept/here/deep/er/a.txt"]
    assert not (tmp_path / "kept/here/link").is_symlink()
    assert os.stat(tmp_path / "kept/here/deep/er/a.txt").st_mode & 0o777 == 0o644


def test_files_are_not_kept_through_a_link(tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "sub").symlink_to(tmp_path / "elsewhere")
    text = "import os\nos.mkdir('sub')\nopen('sub/a.txt', 'w').write('a')"
    done = command("run", program(tmp_path, text), "--out", "out", folder=tmp_path)
    assert done.returncode == 2
    assert "--out out" in done.stderr
    assert not list((tmp_path / "elsewhere").iterdir())


def test_a_program_is_given_files_and_a_language(tmp_path: Path) -> None:
    (tmp_path / "script.txt").write_text("import os\nprint(sorted(os.listdir()), open('b').read())")
    (tmp_path / "data.csv").write_text("1")
    words = ("--language", "py", "--file", "data.csv", "--file", "b=data.csv")
    done = command("run", *words, "script.txt", folder=tmp_path)
    assert (done.returncode, done.stdout) == (0, "['b', 'data.csv'] 1\n"), done.stderr
    done = command("run", "--language", "python", "-", stdin="print('from stdin')")
    assert done.stdout == "from stdin\n"


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--language", "pyhton", "a.py"], "did you mean 'python'?"),
        (["--file", "nothing", "a.py"], "@nothing does not exist"),
        (["--file", "=x", "a.py"], "--file =x has no name or no path"),
        (["--out", "a.py", "a.py"], "--out a.py is not a folder"),
        (["--out", "kept", "a.ts"], "--out is for programs"),
        (["--file", "a.py", "a.ts"], "--file is for programs"),
        (["--packages", "a", "a.ts"], "--packages is for programs"),
    ],
)
def test_a_wrong_option_of_a_program_is_said(
    tmp_path: Path, words: list[str], message: str
) -> None:
    (tmp_path / "a.py").write_text("print('RAN')")
    (tmp_path / "a.ts").write_text("'RAN'")
    done = command("run", *words, folder=tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    assert message in done.stderr


def test_limits_hold_for_a_program(tmp_path: Path) -> None:
    done = command("run", program(tmp_path, "while True: pass"), "--deadline", "500ms")
    assert done.returncode == 137
    assert done.stderr == "sandbox-kernel: the program was ended: 500ms budget\n"
    text = "try: bytearray(2**29)\nexcept MemoryError: print('limited')"
    assert command("run", program(tmp_path, text), "--memory", "64MiB").stdout == "limited\n"


def test_all_about_a_program_is_one_json_object_on_request(tmp_path: Path) -> None:
    done = command("run", "--json", program(tmp_path, "print(1); set_result({'n': 2})"))
    shape = json.loads(done.stdout)
    assert (shape["stdout"], shape["output"], shape["exit_code"]) == ("1\n", {"n": 2}, 0)
    assert done.stderr == ""


def test_what_is_lent_to_modules_cannot_be_lent_to_programs(tmp_path: Path) -> None:
    done = command("run", program(tmp_path, "print('RAN')"), "--global", "a=1")
    assert (done.returncode, done.stdout) == (2, "")
    assert "--global is for JavaScript and TypeScript" in done.stderr


def test_output_is_as_it_is_in_a_pipe_and_harmless_on_a_terminal(tmp_path: Path) -> None:
    path = program(tmp_path, "print('a\\x1b[31mb\\x00')")
    assert command("run", path).stdout == "a\x1b[31mb\x00\n"
    ours, theirs = pty.openpty()
    subprocess.run([*COMMAND, "run", path], stdin=theirs, stdout=theirs, timeout=60, check=True)
    os.close(theirs)
    with open(ours, "rb", buffering=0) as screen:
        assert screen.read(1000) == b"a\\x1B[31mb\\x00\r\n"


def test_ctrl_c_ends_a_program_and_leaves_no_process(tmp_path: Path) -> None:
    path = program(tmp_path, "print('going', flush=True)\nwhile True: pass")
    with started("run", path, stdin=subprocess.DEVNULL) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "going\n"
        others = [each.pid for each in psutil.Process(process.pid).children(recursive=True)]
        os.kill(process.pid, signal.SIGINT)
        assert process.wait(30) == 130
        assert others
        assert until(lambda: all(gone(pid) for pid in others))


def test_doctor_says_how_far_programs_are_isolated() -> None:
    facts = json.loads(command("doctor", "--json").stdout)
    assert facts["programs"]["isolation"] in ("namespaces", "landlock")
    assert all(check["holds"] for check in facts["checks"])
