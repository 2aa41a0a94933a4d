"""Seed 002, "What It Does" and "Safety Properties", sentence by sentence, on `run_program`."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from sandbox_kernel import OptionError
from tests.contract.parts import SECONDS, part, run
from tests.contract.serving import Service
from tests.waiting import until

# ---------------------------------------------------------------------------- what it does


def test_a_program_runs_and_its_streams_and_exit_code_are_read_back() -> None:
    """run a short Python program in an isolated, server-side sandbox and read back its stdout, stderr, and exit code"""
    result = run("import sys; print('out'); print('err', file=sys.stderr); sys.exit(3)")
    assert (result.stdout, result.stderr, result.exit_code) == ("out\n", "err\n", 3)


@pytest.mark.parametrize(
    ("code", "files", "printed"),
    [
        ("import statistics; print(statistics.stdev([1, 2, 3, 4]))", {}, "1.2909944487358056\n"),
        (
            "import csv; print(sum(int(r['n']) for r in csv.DictReader(open('data.csv'))))",
            {"data.csv": "n\n1\n2\n"},
            "3\n",
        ),
        (r"import re; print(bool(re.fullmatch(r'(a|b)*c', 'ababc')))", {}, "True\n"),
        ("open('small.txt', 'w').write('x'); print('done')", {}, "done\n"),
    ],
    ids=["math and statistics", "parsing", "validating a regex", "generating a file"],
)
def test_it_is_for_work_to_do(code: str, files: dict[str, str], printed: str) -> None:
    """math and statistics, parsing or reshaping data the user pasted or a tool returned, validating a regex or algorithm, or generating a small file"""
    result = run(code, files=files)
    assert (result.stdout, result.exit_code) == (printed, 0)


def test_the_directory_is_fresh_and_empty() -> None:
    """the sandbox runs it once in a fresh, empty working directory and returns the captured result"""
    assert run("import os; print(os.listdir())").stdout == "[]\n"


# ---------------------------------------------------------------------------- parameters


def test_code_prints_results_to_stdout_with_the_standard_library_only() -> None:
    """The Python program to run. Print results to stdout — the agent reads stdout back. Standard library only."""
    result = run("import json, decimal\nprint(json.dumps(6 * 7))\nimport pytest")
    assert result.stdout == "42\n"
    assert "No module named 'pytest'" in result.stderr


def test_language_is_python_by_default(service: Service) -> None:
    """Runtime to use. Phase 1 supports only python (the default)."""
    code = "import sys; print(sys.implementation.name)"
    assert part("").run_program(code).wait(SECONDS).stdout == "cpython\n"
    assert service.execute(code)["stdout"] == "cpython\n"


def test_stdin_is_piped_to_the_program() -> None:
    """Text piped to the program's standard input."""
    assert run("print(input()[::-1], input())", stdin="abc\nd\n").stdout == "cba d\n"


def test_timeout_ms_is_a_wall_clock_limit() -> None:
    """Wall-clock limit in milliseconds."""
    result = run("import time; time.sleep(60)", timeout_ms=300)
    assert result.killed
    assert result.duration_ms >= 300


def test_files_are_written_before_the_program_runs() -> None:
    """Input files written into the working directory before the program runs. Each item is {"name": "data.csv", "content": "..."}."""
    assert run("print(open('data.csv').read())", files={"data.csv": "a,b"}).stdout == "a,b\n"


@pytest.mark.parametrize("name", ["a/b", "/etc/passwd", "..", "../x", "a\\b", "", "a\0b"])
def test_file_names_are_plain(name: str) -> None:
    """Names must be plain filenames (no path separators)."""
    with pytest.raises(OptionError, match="files"):
        run("", files={name: "x"})


# ---------------------------------------------------------------------------- the result


def test_large_output_is_head_kept_and_tail_dropped() -> None:
    """captured output (large output is head-kept and tail-dropped, with truncated=true when that happens)"""
    result = run("print('head'); print('x' * 100_000); print('tail')", output_bytes=1000)
    assert result.truncated
    assert result.stdout.startswith("head\nxxx")
    assert "tail" not in result.stdout
    assert len(result.stdout) <= 1000
    assert not run("print('small')").truncated


@pytest.mark.parametrize("code", [0, 1, 7, 255])
def test_exit_code_is_the_process_exit_code(code: int) -> None:
    """exit_code — the process exit code"""
    assert run(f"raise SystemExit({code})").exit_code == code


def test_duration_ms_is_wall_clock_time() -> None:
    """duration_ms — wall-clock execution time"""
    assert 200 <= run("import time; time.sleep(0.2)").duration_ms < 30_000


def test_killed_is_true_when_the_run_exceeded_its_time_limit() -> None:
    """true when the run exceeded its time limit"""
    result = run("while True: pass", timeout_ms=300)
    assert (result.killed, result.oom, result.exit_code) == (True, False, 137)
    assert not run("pass").killed


def test_oom_is_true_when_the_run_exhausted_its_memory_budget() -> None:
    """true when the run exhausted its memory budget"""
    result = run("x = bytearray(10**9)", memory_limit_bytes=64 * 2**20)
    assert (result.oom, result.killed) == (True, False)
    assert result.exit_code != 0
    assert not run("x = bytearray(10**6)").oom


def test_output_files_are_metadata_of_what_the_program_wrote() -> None:
    """output_files — metadata (name, size, truncated) for any files the program wrote"""
    result = run(
        "open('b.txt', 'w').write('12'); open('a.txt', 'w').write('123456')",
        files={"input.txt": "unchanged"},
        max_file_bytes=5,
    )
    assert [(each.name, each.size, each.truncated) for each in result.output_files] == [
        ("a.txt", 6, True),
        ("b.txt", 2, False),
    ]


def test_each_run_starts_fresh() -> None:
    """Each run starts fresh. Nothing persists between calls, so a later call cannot see an earlier call's variables or files"""
    run("import json; json.left = 1; left = 2; open('left.txt', 'w').write('x')")
    after = "import json, os; print(hasattr(json, 'left'), 'left' in globals(), os.listdir())"
    assert run(after).stdout == "False False []\n"


# ---------------------------------------------------------------------------- safety


@pytest.mark.parametrize(
    "attempt",
    [
        "socket.create_connection(('1.1.1.1', 80), 5)",
        "socket.create_connection(('127.0.0.1', port), 5)",
        "socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b'x', ('127.0.0.1', port))",
        "socket.socket(socket.AF_UNIX).connect(path)",
        "socket.socket(socket.AF_UNIX).connect(abstract)",
        "urllib.request.urlopen(f'http://127.0.0.1:{port}', timeout=5)",
        "socket.getaddrinfo('example.org', 80)[0]",
    ],
)
def test_there_is_no_network(attempt: str, host: dict[str, Any]) -> None:
    """No network access — the program cannot reach the internet or any internal service."""
    code = f"""
import socket, urllib.request
port, path, abstract = {host["port"]}, {host["path"]!r}, {host["abstract"]!r}
try:
    {attempt}
except OSError as error:
    print("refused")
"""
    assert run(code).stdout == "refused\n"


def test_the_environment_is_allowlisted_and_secrets_are_absent(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """the child process runs with a default-deny, allowlisted environment and never inherits the platform's environment, so service API keys and other secrets are absent from executed code by construction"""
    monkeypatch.setenv("SERVICE_API_KEY", "hunter2")
    code = "import os; print(dict(os.environ)); print(open('/proc/self/environ').read())"
    result = run(code)
    assert "hunter2" not in result.stdout + result.stderr
    assert "SERVICE_API_KEY" not in result.stdout + result.stderr
    assert run("import os; print(os.environ['NAME'])", env={"NAME": "given"}).stdout == "given\n"


def test_there_are_no_credentials_to_read(host: dict[str, Any]) -> None:
    """No secrets, credentials, or database access"""
    others = f"/proc/{host['host']}/environ"
    code = f"""
for path in ({host["victim"]!r}, "/etc/shadow", {others!r}, {str(Path.home() / ".netrc")!r}):
    try:
        print(open(path).read())
    except OSError:
        print("refused")
"""
    assert run(code).stdout == "refused\n" * 4


def test_third_party_packages_are_absent() -> None:
    """Standard library only — Phase 1 has no third-party packages installed."""
    code = """
import importlib
for name in ("numpy", "pandas", "traitlets", "cffi", "sandbox_kernel", "pip"):
    try:
        importlib.import_module(name)
        print(name)
    except ImportError:
        pass
"""
    assert run(code).stdout == ""


def test_the_working_directory_is_ephemeral(engine_without_namespaces: Any) -> None:
    """Ephemeral working directory — a fresh directory is created per job and removed afterwards."""
    seen: list[tuple[str, list[str]]] = []

    def look(folder: str) -> None:
        seen.append((folder, os.listdir(folder)))

    code = "import os; open('file', 'w').close(); call_tool('look', {'folder': os.getcwd()})"
    for _ in range(2):
        run(code, tools=[look], engine=engine_without_namespaces)
    assert [names for _, names in seen] == [["file"]] * 2
    # The result does not wait for that.
    assert until(lambda: not any(os.path.exists(folder) for folder, _ in seen))


@pytest.fixture
def engine_without_namespaces() -> Iterator[Any]:
    """Its programs see their directory where the host sees it, too."""
    with part("programs").Programs(isolation="landlock", spares=0) as engine:
        try:
            engine.doctor()
        except part("errors").IsolationError as error:
            pytest.skip(str(error))
        yield engine


@pytest.mark.parametrize(
    ("limit", "attempt"),
    [
        ("CPU seconds", "resource.getrlimit(resource.RLIMIT_CPU)[1] != resource.RLIM_INFINITY"),
        (
            "file-write size",
            "resource.getrlimit(resource.RLIMIT_FSIZE)[1] != resource.RLIM_INFINITY",
        ),
        ("open files", "resource.getrlimit(resource.RLIMIT_NOFILE)[1] <= 256"),
        ("process count", "resource.getrlimit(resource.RLIMIT_NPROC)[1] != resource.RLIM_INFINITY"),
    ],
)
def test_posix_rlimits_cap_resources(limit: str, attempt: str) -> None:
    """Resource bounds — POSIX rlimits cap CPU seconds, file-write size, open files, and process count (a fork-bomb guard)"""
    assert run(f"import resource; print({attempt})").stdout == "True\n", limit


@pytest.mark.parametrize(
    "bomb",
    [
        "import os\nwhile True:\n    try: os.fork()\n    except OSError: pass",
        "import threading, time\nwhile True:\n    try: threading.Thread(target=time.sleep, args=(60,)).start()\n    except RuntimeError: pass",
    ],
    ids=["forks", "threads"],
)
def test_a_fork_bomb_is_guarded_against(bomb: str) -> None:
    """process count (a fork-bomb guard)"""
    assert run(bomb, timeout_ms=1500).killed
    assert run("print('next')").stdout == "next\n"


def test_a_timeout_kills_the_whole_process_tree() -> None:
    """a wall-clock timeout kills the whole process tree"""
    marker = f"tree-{os.getpid()}-{time.monotonic_ns()}"
    code = f"""
import os, time
open("{marker}", "w").close()
held = open("{marker}")
try:
    for _ in range(3):
        if os.fork() == 0:
            os.setsid()
            break
except OSError:
    pass
time.sleep(600)
"""
    assert run(code, timeout_ms=1000).killed

    def holders() -> list[str]:
        found = []
        for pid in filter(str.isdigit, os.listdir("/proc")):
            try:
                links = [
                    os.readlink(f"/proc/{pid}/fd/{fd}") for fd in os.listdir(f"/proc/{pid}/fd")
                ]
            except OSError:
                continue
            found += [pid for link in links if marker in link]
        return found

    assert until(lambda: holders() == [])


def test_code_cannot_call_other_tools() -> None:
    """Cannot call other tools — code runs in isolation and has no path back into the agent's toolset."""
    code = "print([name for name in ('call_tool', 'call_tools_parallel') if name in dir(__builtins__) or name in globals()])"
    assert run(code).stdout == "[]\n"
