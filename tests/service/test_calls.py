"""Tools: calls that leave by the callback URL, or as events that are answered."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from typing import Any

import psutil
import pytest

from tests.contract.serving import Service, free_port
from tests.service.talking import Small, answering, streaming, told
from tests.waiting import until

_CATCHING = """
try:
    set_result({'value': call_tool('tool', {'a': 1})})
except RuntimeError as error:
    set_result({'error': str(error)})
"""


# ---------------------------------------------------------------------------- callbacks


def test_a_value_that_is_not_json_is_text(service: Service) -> None:
    with answering(lambda call: told("not json")) as (url, _):
        found = service.execute(_CATCHING, callback_url=url)
    assert found["output"] == {"value": "not json"}


def test_calls_in_parallel_come_back_in_their_order(service: Service) -> None:
    barrier = threading.Barrier(5)

    def answer(call: dict[str, Any]) -> tuple[int, bytes]:
        barrier.wait(30)  # none is answered before all have come
        time.sleep(0.02 * (5 - call["args"]["n"]))
        return told(call["args"]["n"])

    code = "set_result(call_tools_parallel([('tool', {'n': n}) for n in range(5)]))"
    with answering(answer) as (url, _):
        assert service.execute(code, callback_url=url)["output"] == [0, 1, 2, 3, 4]


@pytest.mark.parametrize("runtime", ["python", "node"])
def test_each_runtime_calls(service: Service, runtime: str) -> None:
    code = {
        "python": "set_result(call_tool('add', {'a': 1}))",
        "node": "setResult(await callTool('add', {a: 1}))",
    }[runtime]
    with answering(lambda call: told(call["args"])) as (url, calls):
        found = service.execute(code, runtime=runtime, callback_url=url)
    assert found["output"] == {"a": 1}
    assert [call["name"] for call in calls] == ["add"]


def test_with_a_list_of_tools_only_those_are_called(service: Service) -> None:
    with answering(lambda call: told(1)) as (url, calls):
        found = service.execute(_CATCHING, callback_url=url, tools=["other"])
    assert "there is no tool 'tool'" in found["output"]["error"]
    assert calls == []


def test_without_tools_there_is_no_call_tool(service: Service) -> None:
    assert "NameError" in service.execute("call_tool('a')")["stderr"]
    assert "NameError" in service.execute("call_tool('a')", tools=[])["stderr"]


@pytest.mark.parametrize("name", ["execute_code", "executeCode", "code_execution", "run_program"])
def test_what_runs_code_is_never_asked_for(service: Service, name: str) -> None:
    code = _CATCHING.replace("'tool'", repr(name))
    with answering(lambda call: told(1)) as (url, calls):
        found = service.execute(code, callback_url=url)
    assert "runs code" in found["output"]["error"]
    assert calls == []


@pytest.mark.parametrize(
    ("status", "body", "told"),
    [
        (500, b"trouble", "answered 500"),
        (204, b"", "answered 204"),
        (200, b"nothing", "JSON"),
        (200, b"[]", "neither"),
        (200, b"{}", "neither"),
        (200, b'{"data": "1", "error": "2"}', "both"),
        (200, b'{"error": "it broke"}', "it broke"),
        (200, b"[" * 100_000, "JSON"),
        (200, b" " * (17 * 2**20), "reached"),
    ],
)
def test_a_callback_that_fails_is_an_error_of_the_call(
    service: Service, status: int, body: bytes, told: str
) -> None:
    with answering(lambda call: (status, body)) as (url, _):
        found = service.execute(_CATCHING, callback_url=url)
    assert told in found["output"]["error"]


def test_a_callback_is_not_redirected(service: Service) -> None:
    """Not even to where it might have gone at once."""
    with (
        answering(lambda call: told(1)) as (elsewhere, reached),
        answering(lambda call: (302, elsewhere.encode())) as (url, _),
    ):
        found = service.execute(_CATCHING, callback_url=url)
    assert "answered 302" in found["output"]["error"]
    assert reached == []


@pytest.mark.parametrize(
    "url",
    [
        "http://169.254.169.254/latest/meta-data",
        "http://example.org/",
        "http://10.0.0.1:80/",
        "http://localhost.evil.example/",
        "http://127.0.0.1@evil.example/",
        "http://user:word@127.0.0.1/",
        "http://127.0.0.1:99999/",
        "http://0x7f000001/",
        "http://127.1/",
        "http://[::ffff:10.0.0.1]/",
        "file:///etc/passwd",
        "gopher://127.0.0.1/",
        "http://127.0.0.1/\r\nX: y",
        "http://127.0.0.1/#x",
        "",
    ],
)
def test_tools_are_called_at_the_requesters_own_address_only(service: Service, url: str) -> None:
    answer = service.ask("POST", "/execute", {"code": "", "callback_url": url})
    assert answer.status == 400
    assert "callback_url" in answer.json["error"]["message"]


def test_another_host_can_be_allowed(small: Small) -> None:
    name = small.callback_host
    request = {"code": _CATCHING, "callback_url": f"http://{name}:{free_port()}/"}
    answer = small.service.ask("POST", "/execute", request)
    assert "could not be reached" in answer.json["output"]["error"]
    other = {"code": "", "callback_url": f"http://not-{name}/"}
    assert small.service.ask("POST", "/execute", other).status == 400


_SILENT = """
import socket, sys
server = socket.create_server(('127.0.0.1', int(sys.argv[1])))
print('listening', flush=True)
connection, _ = server.accept()
connection.recv(10)
print('called', flush=True)
connection.recv(10**6)
input()
"""


@pytest.mark.parametrize(
    "number",
    [signal.SIGKILL, signal.SIGTERM, signal.SIGSTOP],
    ids=["killed", "terminated", "stopped"],
)
def test_a_callback_server_that_dies_or_hangs_costs_the_call_only(
    service: Service, number: signal.Signals
) -> None:
    """A dead one is noticed at once, a silent one by the program's time limit."""
    port = free_port()
    with subprocess.Popen(
        [sys.executable, "-c", _SILENT, str(port)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as server:
        assert server.stdout is not None
        assert server.stdout.readline() == "listening\n"
        found: list[Any] = []
        limit = 1_000 if number == signal.SIGSTOP else 30_000
        request = {"callback_url": f"http://127.0.0.1:{port}/", "timeout_ms": limit}
        asking = threading.Thread(
            target=lambda: found.append(service.execute(_CATCHING, **request))
        )
        asking.start()
        assert server.stdout.readline() == "called\n"
        os.kill(server.pid, number)
        asking.join(60)
        server.kill()
    (answer,) = found
    if number != signal.SIGSTOP:
        assert "could not be reached" in answer["output"]["error"]
    else:
        assert answer["killed"] or "reached" in answer["output"]["error"]


def test_a_callback_server_that_dies_in_its_answer_costs_the_call_only(service: Service) -> None:
    """Also when its connection is reset, as that of a killed one with something unread is."""
    beginning = b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{"
    with socket.create_server(("127.0.0.1", 0)) as server:

        def answer() -> None:
            connection, _ = server.accept()
            with connection:
                connection.recv(1)
                connection.sendall(beginning)

        threading.Thread(target=answer, daemon=True).start()
        url = f"http://127.0.0.1:{server.getsockname()[1]}/"
        found = service.execute(_CATCHING, callback_url=url)
    assert "could not be reached" in found["output"]["error"]


def test_calls_that_are_not_answered_hold_up_no_others(service: Service) -> None:
    """Not even if their run has ended, and nobody waits for them any more."""
    source = """
      import { callTool } from 'tools';
      for (let n = 0; n < 400; n++) callTool('wait', {});
      await callTool('last', {});
    """
    silent = socket.create_server(("127.0.0.1", 0), backlog=1_000)
    with silent, answering(lambda call: told(call["name"])) as (url, _):
        nowhere = f"http://127.0.0.1:{silent.getsockname()[1]}/"
        run = {"source": source, "callback_url": nowhere, "execution_id": "unanswered"}
        asking = threading.Thread(target=service.ask, args=("POST", "/run", run))
        asking.start()
        assert until(lambda: connections_to(service, silent) >= 50)
        assert service.execute("set_result(call_tool('a'))", callback_url=url)["output"] == "a"
        assert service.ask("POST", "/runs/unanswered/stop").status == 204
        asking.join(60)
        assert until(lambda: connections_to(service, silent) == 0)


def connections_to(service: Service, listener: socket.socket) -> int:
    """That the service has open."""
    found = psutil.Process(service.process.pid).net_connections("tcp")
    return sum(each.raddr == listener.getsockname() for each in found)


# ---------------------------------------------------------------------------- events


def _answer(service: Service, call: dict[str, Any], **fields: Any) -> Any:
    path = f"/runs/{call['execution_id']}/results"
    return service.ask("POST", path, {"id": call["id"], **fields})


def test_calls_are_events_and_answered_by_post(service: Service) -> None:
    code = "print('before', flush=True); print(call_tool('add', {'a': 1, 'b': [2]}))"
    with streaming(service, "/execute", {"code": code, "tools": ["add"]}) as events:
        said = []
        for event in events:
            said.append(event)
            if event["event"] == "call":
                assert (event["name"], event["args"]) == ("add", {"a": 1, "b": [2]})
                assert _answer(service, event, data=json.dumps({"sum": 3})).status == 204
    assert {"event": "stdout", "text": "before\n"} in said
    assert said[-1]["event"] == "result"
    assert said[-1]["stdout"] == "before\n{'sum': 3}\n"


def test_calls_in_parallel_are_all_told_before_one_is_answered(service: Service) -> None:
    code = "set_result(call_tools_parallel([('tool', {'n': n}) for n in range(5)]))"
    with streaming(service, "/execute", {"code": code, "tools": ["tool"]}) as events:
        calls = [next(events) for _ in range(5)]
        for call in reversed(calls):
            _answer(service, call, data=str(call["args"]["n"]))
        assert list(events)[-1]["output"] == [0, 1, 2, 3, 4]


def test_calls_that_were_answered_are_not_kept(service: Service) -> None:
    code = "for _ in range(30): call_tool('tool', {'large': 'x' * 4_000_000})"
    process = psutil.Process(service.process.pid)
    before = process.memory_info().rss
    with streaming(service, "/execute", {"code": code, "tools": ["tool"]}) as events:
        for _ in range(30):
            _answer(service, next(events), data="1")
        assert process.memory_info().rss - before < 50 * 2**20
        assert list(events)[-1]["exit_code"] == 0


def test_an_error_is_an_answer(service: Service) -> None:
    with streaming(service, "/execute", {"code": _CATCHING, "tools": ["tool"]}) as events:
        _answer(service, next(events), error="it broke")
        assert "it broke" in list(events)[-1]["output"]["error"]


def test_an_answer_counts_once_and_only_for_its_call(service: Service) -> None:
    code = "set_result([call_tool('tool'), call_tool('tool')])"
    with streaming(service, "/execute", {"code": code, "tools": ["tool"]}) as events:
        first = next(events)
        forged = {**first, "id": "guessed"}
        assert _answer(service, forged, data="0").status == 404
        assert _answer(service, {**first, "execution_id": "other"}, data="0").status == 404
        assert _answer(service, first, data="1").status == 204
        assert _answer(service, first, data="0").status == 404  # replayed
        second = next(events)
        assert second["id"] != first["id"]
        _answer(service, second, data="2")
        assert list(events)[-1]["output"] == [1, 2]


@pytest.mark.parametrize(
    "body",
    [
        b"",
        {},
        {"id": 1, "data": ""},
        {"id": "a"},
        {"id": "a", "data": "", "error": ""},
        {"id": "a", "error": 1},
    ],
)
def test_a_malformed_answer_is_refused(service: Service, body: Any) -> None:
    assert service.ask("POST", "/runs/any/results", body).status == 400


def test_a_call_that_nobody_answers_ends_with_the_program(service: Service) -> None:
    request = {"code": _CATCHING, "tools": ["tool"], "timeout_ms": 500}
    with streaming(service, "/execute", request) as events:
        call = next(events)
        last = list(events)[-1]
    assert last["killed"]
    assert _answer(service, call, data="1").status == 404


def test_whoever_comes_back_is_told_only_the_calls_that_wait(service: Service) -> None:
    code = "set_result([call_tool('tool'), call_tool('tool')])"
    request = {"code": code, "tools": ["tool"], "execution_id": "calls-again"}
    with streaming(service, "/execute", request) as events:
        _answer(service, next(events), data="1")
        waiting = next(events)
    with streaming(service, "/execute", request) as events:
        assert next(events) == waiting
        _answer(service, waiting, data="2")
        assert list(events)[-1]["output"] == [1, 2]
