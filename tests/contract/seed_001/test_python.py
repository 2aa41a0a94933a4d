"""Seed 001, "Runtimes" and "Safety", for Python programs without tools."""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import Any

import pytest

from sandbox_kernel.values import undefined
from tests.contract.parts import part, run
from tests.contract.wheels import wheel

# ---------------------------------------------------------------------------- set_result


def test_set_result_sets_the_structured_result() -> None:
    """Set the structured result. Call once at the end."""
    result = run('set_result({"summary": "Found 3 articles", "articles": [1, 2, 3]})')
    assert result.result == {"summary": "Found 3 articles", "articles": [1, 2, 3]}


def test_without_set_result_there_is_none() -> None:
    """Set the structured result."""
    assert run("print(1)").result is undefined


def test_set_result_declares_files_to_return() -> None:
    """Optionally declare files to return."""
    code = """
open("chart.png", "wb").write(b"png")
open("report.csv", "w").write("a,b")
open("scratch.txt", "w").write("not declared")
set_result({
    "summary": "Found 3 articles",
}, files=["chart.png", "report.csv"])
"""
    result = run(code)
    assert [(each.name, each.data) for each in result.files] == [
        ("chart.png", b"png"),
        ("report.csv", b"a,b"),
    ]
    assert [each.name for each in result.output_files] == ["chart.png", "report.csv", "scratch.txt"]


def test_print_does_not_appear_in_structured_output() -> None:
    """Goes to stderr → CodeResult.Logs. Does **not** appear in structured output."""
    result = run("print('a log'); set_result(7); print('another')")
    assert result.logs == "a log\nanother\n"
    assert result.result == 7


def test_install_package_installs_at_runtime_via_pip(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Install a Python package at runtime via pip."""
    wheel(tmp_path, "tinypackage", "answer = 42\n")
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(tmp_path))
    code = "install_package('tinypackage')\nimport tinypackage\nprint(tinypackage.answer)"
    assert run(code, install=True).stdout == "42\n"
    assert "NameError" in run(code).stderr  # what is not lent is absent


# ---------------------------------------------------------------------------- workspaces


def test_each_session_id_maps_to_a_workspace_directory() -> None:
    """Each `session_id` maps to a workspace directory."""
    workspaces = part("sessions").Workspaces()
    for session in ("one", "two"):
        run(f"open('who', 'w').write({session!r})", session=session, workspaces=workspaces)
    assert workspaces.open("one").read("who") == b"one"
    assert workspaces.open("two").read("who") == b"two"


def test_files_persist_across_executions_within_the_same_session() -> None:
    """Files persist across executions within the same session."""
    workspaces = part("sessions").Workspaces()
    run("open('count', 'w').write('1')", session="s", workspaces=workspaces)
    code = "n = int(open('count').read()) + 1; open('count', 'w').write(str(n)); print(n)"
    assert run(code, session="s", workspaces=workspaces).stdout == "2\n"
    assert run(code, session="s", workspaces=workspaces).stdout == "3\n"
    assert "FileNotFoundError" in run(code, session="another", workspaces=workspaces).stderr


def test_workspaces_are_evicted_when_not_accessed_within_the_ttl() -> None:
    """TTL eviction — background goroutine removes workspaces not accessed within the TTL (default 1 hour)"""
    assert part("sessions").Workspaces().ttl_seconds == 3600
    workspaces = part("sessions").Workspaces(ttl_seconds=1)
    run("open('file', 'w').close()", session="s", workspaces=workspaces)
    time.sleep(1.2)
    assert (
        run("import os; print(os.listdir())", session="s", workspaces=workspaces).stdout == "[]\n"
    )


def test_a_workspace_is_deleted_explicitly() -> None:
    """Explicit delete — `DELETE /workspace/{session_id}` for immediate cleanup"""
    workspaces = part("sessions").Workspaces()
    run("open('file', 'w').close()", session="s", workspaces=workspaces)
    assert workspaces.delete("s")
    assert (
        run("import os; print(os.listdir())", session="s", workspaces=workspaces).stdout == "[]\n"
    )


# ---------------------------------------------------------------------------- safety


def test_code_runs_in_full_isolation_from_the_host_process() -> None:
    """The sandbox container is the security boundary — code runs in full isolation from the host app process."""
    code = f"""
import os
try:
    os.kill({os.getpid()}, 9)
    print("killed")
except (ProcessLookupError, PermissionError):
    print("refused")
"""
    assert run(code).stdout == "refused\n"


def test_there_is_no_access_to_the_host_filesystem(host: dict[str, Any]) -> None:
    """The container has no access to the host filesystem or the app's secrets unless explicitly configured."""
    secret = Path(host["victim"])
    code = f"""
for attempt in (
    lambda: open({str(secret)!r}).read(),
    lambda: open({str(secret)!r}, "a"),
    lambda: open({str(secret.with_name("new"))!r}, "w"),
    lambda: __import__("os").listdir({str(secret.parent)!r}),
):
    try:
        print(attempt())
    except OSError:
        print("refused")
"""
    assert run(code).stdout == "refused\n" * 4
    assert not secret.with_name("new").exists()


def test_what_is_explicitly_configured_can_be_read(tmp_path: Path) -> None:
    """unless explicitly configured"""
    (tmp_path / "lent").write_text("shared")
    tmp_path.chmod(0o755)  # a program of root has a user of its own
    code = f"print(open({str(tmp_path / 'lent')!r}).read())"
    assert run(code, allow={"read": [str(tmp_path)]}).stdout == "shared\n"


def test_it_has_a_network_and_a_process_namespace_of_its_own(host: dict[str, Any]) -> None:
    """Code executes inside a Docker container with its own filesystem, network, and process namespace."""
    code = f"""
import os, socket
for attempt in (
    lambda: socket.create_connection(("127.0.0.1", {host["port"]}), 5),
    lambda: socket.socket(socket.AF_UNIX).connect({host["path"]!r}),
    lambda: socket.socket(socket.AF_UNIX).connect({host["abstract"]!r}),
    lambda: os.kill({host["host"]}, 0),
    lambda: os.readlink("/proc/{host["host"]}/cwd"),
):
    try:
        print(attempt())
    except OSError:
        print("refused")
"""
    assert run(code).stdout == "refused\n" * 5


def test_files_of_a_session_are_out_of_reach_of_another() -> None:
    """Files are scoped to per-session workspace directories."""
    workspaces = part("sessions").Workspaces()
    run("open('secret', 'w').write('hunter2')", session="one", workspaces=workspaces)
    path = workspaces.open("one").path / "secret"
    code = f"""
for path in ("../one/secret", "../../one/secret", {str(path)!r}, "/ws/one/secret"):
    try:
        print(open(path).read())
    except OSError:
        print("refused")
"""
    assert run(code, session="two", workspaces=workspaces).stdout == "refused\n" * 4


@pytest.mark.parametrize("path", ["../secret", "/etc/passwd", "a/../../x", "link"])
def test_path_traversal_is_prevented(path: str) -> None:
    """Path traversal is prevented by sanitizing all file paths against the workspace root."""
    code = f"""
import os
try:
    os.symlink("/etc/passwd", "link")
except OSError:
    pass
set_result(1, files=[{path!r}])
"""
    result = run(code)
    assert result.files == []
    assert path in result.stderr


def test_the_timeout_is_30_seconds_by_default_and_can_be_300() -> None:
    """Execution has a configurable timeout (default 30s, max 300s)."""
    assert part("programs.contract").DEFAULT_TIMEOUT_MS == 30_000
    assert run("print(1)", timeout_ms=300_000).stdout == "1\n"
    tools = part("tools")
    assert tools.CodeRequest("print(1)", timeout=300).timeout == 300
    for timeout in (300.001, 0, -1, float("nan"), "30"):
        with pytest.raises(part("").OptionError, match="at most 300"):
            tools.CodeRequest("print(1)", timeout=timeout)


def test_the_subprocess_is_killed_on_timeout() -> None:
    """The subprocess is killed on timeout."""
    result = run("import signal\nsignal.signal(15, lambda *_: 0)\nwhile True: pass", timeout_ms=300)
    assert (result.killed, result.exit_code) == (True, 137)


def test_a_python_program_is_executed_by_a_python_interpreter_of_its_own() -> None:
    """`os/exec` runs the appropriate binary (`python3` or `node`) with the temp file"""
    code = "import os; print(os.getpid()); print(__name__, __import__('sys').argv[0][-10:])"
    result = run(code)
    assert result.stdout.splitlines()[1] == "__main__ program.py"
