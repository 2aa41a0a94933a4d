"""Wrong options are refused before anything runs, by messages that say what to write instead."""

from __future__ import annotations

import json
import math
from typing import Any

import pytest

from sandbox_kernel.errors import OptionError
from sandbox_kernel.programs import OutputFile, ProgramResult
from sandbox_kernel.programs.runtimes import RUNTIMES
from sandbox_kernel.run import run_program
from tests.programs.conftest import Run

WRONG: list[tuple[dict[str, Any], str, str]] = [
    ({"code": b"print(1)"}, "code", "code must be text, not bytes"),
    ({"code": "\ud800"}, "code", "half of a surrogate pair at character 0"),
    ({"language": "pyton"}, "language", "unknown language 'pyton'; did you mean 'python'?"),
    ({"language": "cobol"}, "language", "Supported: python"),
    ({"language": None}, "language", "language must be a string, not NoneType"),
    ({"language": "den0"}, "language", "did you mean 'deno'?"),
    ({"language": "jss"}, "language", "javascript, typescript"),
    ({"stdin": 1}, "stdin", "stdin must be text, not int"),
    ({"args": "a"}, "args", "args must be a list of text, not str"),
    ({"args": ["a", 1]}, "args", "args[1] must be text, not int"),
    ({"args": ["\0"]}, "args", "args[0] contains a NUL character"),
    ({"env": ["A"]}, "env", "env must be a mapping of names to text, not list"),
    ({"env": {"A=B": ""}}, "env", "'A=B' cannot be the name of a variable"),
    ({"env": {"A": 1}}, "env", "env['A'] must be text, not int"),
    ({"timeout_ms": 0}, "timeout_ms", "timeout_ms must be positive"),
    ({"timeout_ms": math.nan}, "timeout_ms", "must be a number of milliseconds, not nan"),
    ({"timeout_ms": True}, "timeout_ms", "must be a number of milliseconds, not True"),
    ({"memory_limit_bytes": 1000}, "memory_limit_bytes", "must be 1,048,576 to"),
    ({"memory_limit_bytes": "1G"}, "memory_limit_bytes", "must be a whole number of bytes"),
    ({"output_bytes": -1}, "output_bytes", "output_bytes must be 0 to"),
    ({"max_file_bytes": 1.5}, "max_file_bytes", "must be a whole number of bytes, not 1.5"),
    ({"files": {"../x": ""}}, "files", "contains a path separator"),
    ({"files": [1]}, "files", "must be a mapping"),
    ({"packages": ["pandsa"]}, "packages", "pandsa is not installed here; did you mean pandas?"),
    ({"session": "a/b"}, "session", "is not a session id"),
    ({"session": 7}, "session", "int is not a session id"),
    ({"session": "a", "workspaces": "/tmp"}, "workspaces", "must be a Workspaces, not str"),
    ({"tools": 7}, "tools", "tools must be a Toolbox, or a list or mapping of functions, not int"),
    ({"timeout": 5}, "timeout", "unknown option 'timeout'; did you mean timeout_ms?"),
]


@pytest.mark.parametrize(("given", "option", "message"), WRONG, ids=lambda value: str(value)[:40])
def test_a_wrong_option_is_named(given: dict[str, Any], option: str, message: str) -> None:
    with pytest.raises(OptionError) as caught:
        run_program(**({"code": "print(1)"} | given))
    assert message in str(caught.value)
    assert caught.value.option == option


@pytest.mark.parametrize("language", ["python", "py", "Python", "PYTHON3", " py "])
def test_a_language_has_several_names(run: Run, language: str) -> None:
    assert run("print(1)", language=language).stdout == "1\n"


def test_no_two_languages_share_a_name_or_a_suffix() -> None:
    names = [name for each in RUNTIMES for name in (each.name, *each.aliases, *each.suffixes)]
    assert len(set(names)) == len(names)


def test_options_that_are_empty_or_none_have_their_defaults(run: Run) -> None:
    empty: dict[str, Any] = {"packages": [], "install": False, "tools": None, "allow": {}}
    assert (
        run("print(1)", args=None, files=None, stdin=None, timeout_ms=math.inf, **empty).stdout
        == "1\n"
    )


def test_files_go_in_and_come_out(run: Run) -> None:
    code = """
import os
print(sorted(os.listdir()))
os.makedirs('sub')
open('sub/copy.bin', 'wb').write(open('in.bin', 'rb').read() * 2)
open('in.txt', 'a').write('!')
open('new.txt', 'w').write('new')
os.symlink('/etc/passwd', 'link')
"""
    files = {"in.bin": b"\x00\xff", "in.txt": "text", "same.txt": "same"}
    result = run(code, files=files)
    assert result.stdout == "['in.bin', 'in.txt', 'same.txt']\n"
    assert {file.name: file.data for file in result.output_files} == {
        "in.txt": b"text!",
        "new.txt": b"new",
        "sub/copy.bin": b"\x00\xff\x00\xff",
    }


def test_a_large_file_is_named_but_does_not_come_back(run: Run) -> None:
    result = run("open('big', 'wb').write(bytes(2000))", max_file_bytes=1000)
    assert result.output_files == [OutputFile("big", 2000, True, None)]


def test_large_inputs_are_written_beside_the_loop(run: Run) -> None:
    result = run("import os; print(os.path.getsize('big'))", files={"big": bytes(3 * 2**20)})
    assert (result.stdout, result.output_files) == (f"{3 * 2**20}\n", [])


def test_a_result_has_data_and_files(run: Run) -> None:
    code = """
open('chart.png', 'wb').write(b'png')
set_result({'first': True})
set_result({'n': [1, 2.5, None, 'ä']}, files=['chart.png', 'missing.csv', '/etc/passwd', '../x'])
"""
    result = run(code)
    assert result.result == {"n": [1, 2.5, None, "ä"]}
    assert result.files == [OutputFile("chart.png", 3, False, b"png")]
    for name in ("missing.csv", "/etc/passwd", "../x"):
        assert f"set_result: {name}: " in result.stderr


def test_one_path_is_no_list_of_paths(run: Run) -> None:
    result = run("set_result(1, files='report.csv')")
    assert result.stderr.endswith("TypeError: files must be a list of paths, not str\n")


def test_a_result_that_is_not_json_is_an_error_of_the_program(run: Run) -> None:
    result = run("set_result({1, 2})")
    assert "TypeError: Object of type set is not JSON serializable" in result.stderr
    assert result.exit_code == 1


def test_the_json_of_a_result_has_the_names_of_execute(run: Run) -> None:
    code = "open('a.txt', 'w').write('a'); set_result(7, files=['a.txt']); print('x')"
    shape = json.loads(json.dumps(run(code).to_json()))
    for name in ("duration_ms", "queued_ms"):
        assert shape.pop(name) >= 0
    assert shape == {
        "stdout": "x\n", "stderr": "", "logs": "x\n", "exit_code": 0,
        "killed": False, "oom": False, "truncated": False, "output": 7,
        "files": [{"name": "a.txt", "size": 1, "truncated": False, "mime": "text/plain", "data": "YQ=="}],
        "output_files": [{"name": "a.txt", "size": 1, "truncated": False}],
    }  # fmt: skip
    killed = ProgramResult("", "", "", 137, reason="why").to_json()
    assert (killed["output"], killed["reason"]) == (None, "why")


def test_an_unknown_language_is_told_what_is_installed_and_how_to_get_the_rest(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("shutil.which", lambda name: "/bin/node" if name == "node" else None)
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(OptionError) as caught:
        run_program("1", "cobol")
    assert str(caught.value) == (
        "unknown language 'cobol'; Supported: python, node, javascript, typescript;"
        " deno is not installed: `pip install 'sandbox-kernel[deno]'`"
    )
