"""Seed 001: the sandbox service, its endpoints, workspaces and configuration."""

from __future__ import annotations

import base64
import json
import shutil
import sys
import threading
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from tests.contract.coming import awaits
from tests.contract.serving import Service, free_port, serving
from tests.waiting import until

pytestmark = awaits("the service")


@pytest.fixture(scope="module")
def service() -> Iterator[Service]:
    with serving() as found:
        yield found


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
    threading.Thread(target=server.serve_forever, daemon=True).start()
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


def test_sandbox_addr_is_the_listen_address() -> None:
    """`SANDBOX_ADDR` | `:9000` | Listen address"""
    other = f"127.0.0.1:{free_port()}"
    with serving(SANDBOX_ADDR=other) as flags_win:
        assert other not in flags_win.url
        assert flags_win.ask("GET", "/health").status == 200


def test_sandbox_workspace_is_the_root_of_the_workspaces(tmp_path: Path) -> None:
    """`SANDBOX_WORKSPACE` | `/var/sandbox` | Root directory for session workspaces"""
    with serving(SANDBOX_WORKSPACE=str(tmp_path / "root")) as service:
        service.execute("open('file', 'w').write('kept')", session_id="s1")
        assert (tmp_path / "root" / "s1" / "file").read_text() == "kept"


@pytest.mark.parametrize(
    ("name", "binary", "runtime", "code"),
    [
        ("SANDBOX_PYTHON_BIN", sys.executable, "python", "print(1)"),
        ("SANDBOX_NODE_BIN", shutil.which("node") or "node", "node", "console.log(1)"),
    ],
)
def test_the_binaries_are_settings(name: str, binary: str, runtime: str, code: str) -> None:
    """`SANDBOX_PYTHON_BIN` | `python3` | Python binary path / `SANDBOX_NODE_BIN` | `node` | Node.js binary path"""
    with serving(**{name: binary}) as service:
        assert service.execute(code, runtime=runtime)["stdout"] == "1\n"
    with serving(**{name: "/nowhere/at/all"}) as service:
        assert service.execute(code, runtime=runtime).get("stdout") != "1\n"


def test_at_capacity_new_requests_receive_503_immediately() -> None:
    """`SANDBOX_MAX_CONCURRENT` | `4` | Max parallel executions (503 if exceeded) … When at capacity, new requests receive HTTP 503 immediately (fail-fast, no queuing)."""
    with serving(SANDBOX_MAX_CONCURRENT="1") as service:
        slow = {"code": "import time; time.sleep(5)"}
        thread = threading.Thread(target=service.ask, args=("POST", "/execute", slow))
        thread.start()
        answers = []

        def is_busy() -> bool:
            answers.append(service.ask("POST", "/execute", {"code": "print(1)"}))
            return answers[-1].status == 503

        assert until(is_busy)
        assert answers[-1].json["error"]["code"] == "busy"
        assert "Retry-After" in answers[-1].headers
        thread.join()


def test_the_time_to_live_is_a_setting() -> None:
    """`SANDBOX_SESSION_TTL` | `1h` | Workspace TTL before eviction"""
    with serving(SANDBOX_SESSION_TTL="1s") as service:
        service.execute("open('file', 'w').close()", session_id="s1")
        time.sleep(1.5)
        found = service.execute("import os; print(os.listdir())", session_id="s1")
        assert found["stdout"] == "[]\n"


def test_the_captured_output_is_bounded_by_a_setting() -> None:
    """`SANDBOX_MAX_OUTPUT` | `524288` | Max stderr capture in bytes"""
    with serving(SANDBOX_MAX_OUTPUT="1000") as service:
        found = service.execute("import sys; print('x' * 10_000, file=sys.stderr)")
        assert found["truncated"]
        assert len(found["stderr"]) <= 1000


def test_a_setting_that_cannot_be_read_stops_the_start() -> None:
    """Environment variables for the sandbox service"""
    for name, value in (("SANDBOX_MAX_CONCURRENT", "many"), ("SANDBOX_SESSION_TTL", "soon")):
        with pytest.raises(RuntimeError, match=name), serving(**{name: value}):
            pass
