"""Seed 001: the sandbox service, its endpoints, workspaces and configuration."""

from __future__ import annotations

import base64
import json
import os
import shutil
import sys
import threading
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from sandbox_kernel.cli import main
from tests.contract.parts import part
from tests.contract.serving import KEY, Service, serving, serving_as, started
from tests.service.talking import holding
from tests.waiting import until


@pytest.fixture
def callback() -> Iterator[tuple[str, list[Any]]]:
    """A listener that answers tool calls with their own arguments."""
    calls: list[Any] = []

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            call = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            calls.append(call)
            shape = (
                {"error": "it broke"}
                if call["name"] == "broken"
                else {"data": json.dumps(call["args"])}
            )
            data = json.dumps(shape).encode()
            self.send_response(200)
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}/dispatch", calls
    server.shutdown()
    server.server_close()


# ---------------------------------------------------------------------------- endpoints


def test_execute_executes_code_and_returns_results(service: Service) -> None:
    """`/execute` | POST | Execute code and return results"""
    found = service.execute("print('hi'); set_result({'n': 42})", runtime="python")
    assert (found["output"], found["logs"], found["exit_code"]) == ({"n": 42}, "hi\n", 0)


def test_health_is_a_health_check(service: Service) -> None:
    """`/health` | GET | Health check"""
    answer = service.ask("GET", "/health", key=None)
    assert (answer.status, answer.json) == (200, {"status": "ready"})


def test_delete_deletes_a_session_workspace(service: Service) -> None:
    """`/workspace/{session_id}` | DELETE | Delete a session workspace"""
    service.execute("open('file', 'w').close()", session_id="to-delete")
    assert service.ask("DELETE", "/workspace/to-delete").status == 204
    assert service.ask("DELETE", "/workspace/to-delete").status == 204
    found = service.execute("import os; print(os.listdir())", session_id="to-delete")
    assert found["stdout"] == "[]\n"


# ---------------------------------------------------------------------------- how it works


def test_tool_calls_are_posted_to_the_callback_url(
    service: Service, callback: tuple[str, list[Any]]
) -> None:
    """code calls `call_tool()`/`callTool()` which POSTs to the callback URL; the sandbox subprocess blocks until the tool result is returned"""
    url, calls = callback
    code = "set_result(call_tool('echo', {'query': '...'}))"
    found = service.execute(code, callback_url=url, execution_id="an-id-of-my-own")
    assert found["output"] == {"query": "..."}
    assert calls == [{"execution_id": "an-id-of-my-own", "name": "echo", "args": {"query": "..."}}]


def test_a_tool_that_fails_is_a_runtime_error(
    service: Service, callback: tuple[str, list[Any]]
) -> None:
    """Raises `RuntimeError` on tool failure."""
    code = """
try:
    call_tool('broken')
except RuntimeError as error:
    set_result(str(error))
"""
    assert "it broke" in service.execute(code, callback_url=callback[0])["output"]


def test_prints_are_logs_and_results_are_structured(service: Service) -> None:
    """`print()`/`console.log()` goes to stderr (captured as logs); structured results go through `set_result()`/`setResult()` → stdout JSON protocol"""
    found = service.execute("print('{\"forged\": 1}'); set_result([1])")
    assert (found["logs"], found["output"]) == ('{"forged": 1}\n', [1])


def test_declared_files_are_base64_in_the_response(service: Service) -> None:
    """files declared in `set_result(files=[...])` are read from the workspace, base64-encoded, and included in the response"""
    code = "open('a.csv', 'wb').write(b'\\xff'); open('b', 'w'); set_result(1, files=['a.csv'])"
    found = service.execute(code)
    assert found["files"] == [
        {
            "name": "a.csv",
            "size": 1,
            "truncated": False,
            "mime": "text/csv",
            "data": base64.b64encode(b"\xff").decode(),
        }
    ]
    assert [each["name"] for each in found["output_files"]] == ["a.csv", "b"]


def test_input_files_are_base64_or_text(service: Service) -> None:
    """input files are base64-encoded on the wire"""
    files = [
        {"name": "a", "data": base64.b64encode(b"\xff\x00").decode()},
        {"name": "b", "content": "text"},
    ]
    found = service.execute("print(open('a', 'rb').read(), open('b').read())", files=files)
    assert found["stdout"] == "b'\\xff\\x00' text\n"


def test_both_runtimes_are_supported(service: Service) -> None:
    """It supports Python and Node.js runtimes."""
    assert service.execute("print(1)", runtime="python")["stdout"] == "1\n"
    assert service.execute("console.log(1)", runtime="node")["stdout"] == "1\n"


def test_code_cannot_run_code(service: Service, callback: tuple[str, list[Any]]) -> None:
    """`call_tool('execute_code', ...)` from within code is blocked"""
    code = """
try:
    call_tool('execute_code', {'code': '1'})
except RuntimeError:
    set_result('blocked')
"""
    assert service.execute(code, callback_url=callback[0])["output"] == "blocked"
    assert callback[1] == []


# ---------------------------------------------------------------------------- configuration


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("workspaces") / "root"


@pytest.fixture(scope="module")
def configured(root: Path) -> Iterator[Service]:
    """A service that is told everything by variables, and nothing by flags."""
    variables = {
        "PATH": os.environ["PATH"],
        "SANDBOX_EXECUTOR_SERVICE_API_KEY": KEY,
        "SANDBOX_ADDR": "127.0.0.2:0",
        "SANDBOX_WORKSPACE": str(root),
        "SANDBOX_PYTHON_BIN": sys.executable,
        "SANDBOX_NODE_BIN": shutil.which("node") or "node",
        "SANDBOX_MAX_CONCURRENT": "1",
        "SANDBOX_SESSION_TTL": "1s",
        "SANDBOX_MAX_OUTPUT": "1000",
    }
    with serving_as(started([sys.executable, "-m", "sandbox_kernel", "serve"], variables)) as found:
        yield found


@pytest.mark.parametrize(
    ("trait", "default"),
    [
        ("max_concurrent", 4),
        ("session_ttl", 3600),
        ("max_output", 524288),
    ],
)
def test_the_defaults_are_those_of_the_table(trait: str, default: Any) -> None:
    """| Variable | Default | Description |"""
    assert getattr(part("service").Settings(), trait) == default


def test_sandbox_addr_is_the_listen_address(configured: Service) -> None:
    """`SANDBOX_ADDR` | `:9000` | Listen address"""
    assert configured.url.startswith("http://127.0.0.2:")
    assert configured.ask("GET", "/health").status == 200


def test_sandbox_workspace_is_the_root_of_the_workspaces(configured: Service, root: Path) -> None:
    """`SANDBOX_WORKSPACE` | `/var/sandbox` | Root directory for session workspaces"""
    with holding() as (url, released):
        code = "open('file', 'w').write('kept'); call_tool('wait')"
        request = {"code": code, "session_id": "s1", "callback_url": url}
        thread = threading.Thread(target=configured.ask, args=("POST", "/execute", request))
        thread.start()
        file = root / "s1" / "file"
        assert until(lambda: file.exists() and file.read_text() == "kept")
        released.set()
        thread.join()


@pytest.mark.parametrize(("runtime", "code"), [("python", "print(1)"), ("node", "console.log(1)")])
def test_the_binaries_are_settings(configured: Service, runtime: str, code: str) -> None:
    """`SANDBOX_PYTHON_BIN` | `python3` | Python binary path / `SANDBOX_NODE_BIN` | `node` | Node.js binary path"""
    assert configured.execute(code, runtime=runtime)["stdout"] == "1\n"


def test_no_other_binary_stands_in_for_one_that_is_not_there() -> None:
    """`SANDBOX_PYTHON_BIN` | `python3` | Python binary path / `SANDBOX_NODE_BIN` | `node` | Node.js binary path"""
    names = ("SANDBOX_PYTHON_BIN", "SANDBOX_NODE_BIN")
    with serving(**dict.fromkeys(names, "/nowhere/at/all")) as service:
        for runtime, code in (("python", "print(1)"), ("node", "console.log(1)")):
            assert service.execute(code, runtime=runtime).get("stdout") != "1\n"


def test_at_capacity_new_requests_receive_503_immediately(configured: Service) -> None:
    """`SANDBOX_MAX_CONCURRENT` | `4` | Max parallel executions (503 if exceeded) … When at capacity, new requests receive HTTP 503 immediately (fail-fast, no queuing)."""
    with holding() as (url, released):
        first = {"code": "call_tool('wait'); print(1)", "callback_url": url}
        found: list[Any] = []
        thread = threading.Thread(
            target=lambda: found.append(configured.ask("POST", "/execute", first))
        )
        thread.start()
        assert until(lambda: b"executions_running 1\n" in configured.ask("GET", "/metrics").body)
        answer = configured.ask("POST", "/execute", {"code": "print(1)"})
        assert (answer.status, answer.json["error"]["code"]) == (503, "busy")
        assert "Retry-After" in answer.headers
        released.set()
        thread.join()
    assert found[0].json["stdout"] == "1\n"


def test_the_time_to_live_is_a_setting(configured: Service) -> None:
    """`SANDBOX_SESSION_TTL` | `1h` | Workspace TTL before eviction"""
    assert configured.ask("PUT", "/workspace/s2/file", b"1").status == 204
    time.sleep(1.5)
    assert configured.ask("GET", "/workspace/s2/file").status == 404
    found = configured.execute("import os; print(os.listdir())", session_id="s2")
    assert found["stdout"] == "[]\n"


def test_the_captured_output_is_bounded_by_a_setting(configured: Service) -> None:
    """`SANDBOX_MAX_OUTPUT` | `524288` | Max stderr capture in bytes"""
    found = configured.execute("import sys; print('x' * 10_000, file=sys.stderr)")
    assert found["truncated"]
    assert len(found["stderr"]) <= 1000


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("SANDBOX_ADDR", "somewhere"),
        ("SANDBOX_MAX_CONCURRENT", "many"),
        ("SANDBOX_SESSION_TTL", "soon"),
        ("SANDBOX_MAX_OUTPUT", "much"),
    ],
)
def test_a_setting_that_cannot_be_read_stops_the_start(
    name: str, value: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Environment variables for the sandbox service"""
    monkeypatch.setenv("SANDBOX_EXECUTOR_SERVICE_API_KEY", KEY)
    monkeypatch.setenv(name, value)
    assert main(["serve"]) == 2
    assert name in capsys.readouterr().err
