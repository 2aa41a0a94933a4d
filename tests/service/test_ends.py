"""The end of a service, of its workers and of its clients: nothing is left, nothing is lost."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import Any

import psutil
import pytest

from sandbox_kernel import run_code
from sandbox_kernel.service import ServiceEngine
from tests.contract.serving import KEY, Service, serving, start
from tests.processes import gone
from tests.service.talking import (
    LARGE_OUTPUT,
    connected,
    connections,
    holding,
    only_in_soak,
    posted,
    streaming,
)
from tests.waiting import eventually, until

_ENDLESS = "print('begun', flush=True)\nwhile True: pass"
_GOING_ON: list[tuple[str, Any]] = [
    ("/execute", {"code": _ENDLESS}),
    ("/run", {"source": "report(1); for (;;);"}),
    ("/execute", {"code": "call_tool('a')", "tools": ["a"]}),
]
_TERM_AND_STOP = (signal.SIGTERM, signal.SIGSTOP)
_MOMENTS = 40


def _family(service: Service) -> list[int]:
    """Every process that the service has started, and those of them."""
    return [each.pid for each in psutil.Process(service.process.pid).children(recursive=True)]


def _in_background(service: Service, **request: Any) -> tuple[threading.Thread, list[Any]]:
    found: list[Any] = []
    thread = threading.Thread(target=lambda: found.append(service.ask("POST", "/execute", request)))
    thread.start()
    return thread, found


def _is_executing(service: Service, count: int = 1) -> bool:
    text = service.ask("GET", "/metrics").body.decode()
    return f"sandbox_executions_running {count}\n" in text


# ---------------------------------------------------------------------------- SIGTERM


def test_sigterm_lets_what_runs_come_to_its_end() -> None:
    """And its answer, which is more than a connection holds by itself, is read to its end."""
    with serving(SANDBOX_MAX_OUTPUT=str(LARGE_OUTPUT)) as service, holding() as (url, released):
        code = "import sys; call_tool('wait')\nfor _ in range(160): sys.stdout.write('x' * 2**17)"
        thread, found = _in_background(service, code=code, callback_url=url)
        assert until(lambda: _is_executing(service))
        service.process.terminate()
        assert until(lambda: service.ask("GET", "/readyz").status == 503)
        assert service.ask("GET", "/health").status == 200
        refused = service.ask("POST", "/execute", {"code": "print(1)"})
        assert (refused.status, refused.json["error"]["code"]) == (503, "draining")
        released.set()
        thread.join(60)
        assert len(found[0].json["stdout"]) == 160 * 2**17
        assert service.process.wait(60) == 0


async def test_after_the_grace_it_is_ended_and_answered() -> None:
    """Programs, and runs whose workers are lent."""
    with serving("--grace", "0.2s") as service, ServiceEngine(service.url, KEY) as engine:
        heard: list[Any] = []
        run = run_code("report(1); for (;;);", report=heard.append, engine=engine)
        assert await eventually(lambda: heard)
        with streaming(service, "/execute", {"code": _ENDLESS}) as events:
            next(events)
            family = _family(service)
            service.process.terminate()
            last = list(events)[-1]
        found = await asyncio.wait_for(run, 60)
        assert service.process.wait(60) == 0
    assert last["killed"]
    assert last["error"] == "the service is stopping"
    assert found.status == "terminated"
    assert found.error is not None
    assert "stopping" in found.error.message
    assert until(lambda: all(map(gone, family)))


@pytest.mark.parametrize(
    "second", [signal.SIGTERM, pytest.param(signal.SIGKILL, marks=only_in_soak)]
)
def test_a_second_signal_does_not_wait(second: signal.Signals) -> None:
    with (
        serving("--grace", "300s") as service,
        streaming(service, "/execute", {"code": _ENDLESS}) as events,
    ):
        next(events)
        family = _family(service)
        service.process.terminate()
        assert until(lambda: service.ask("GET", "/readyz").status == 503)
        service.process.send_signal(second)
        assert service.process.wait(60) == -second
    assert until(lambda: all(map(gone, family)))


def test_an_idle_service_ends_at_once_and_leaves_nothing(tmp_path: Path) -> None:
    with serving("--grace", "300s", TMPDIR=str(tmp_path)) as service:
        service.execute("open('f', 'w').close()", session_id="s")
        family = _family(service)
        assert family
        service.process.send_signal(signal.SIGINT)
        assert service.process.wait(60) == 0
    assert until(lambda: all(map(gone, family)))
    assert list(tmp_path.iterdir()) == []


# ---------------------------------------------------------------------------- SIGKILL and SIGSTOP


async def test_a_killed_service_leaves_no_process_and_no_workspace(tmp_path: Path) -> None:
    """Killed while it has spares, a program, a run, a call that waits, and a worker that is lent."""
    with serving(TMPDIR=str(tmp_path)) as service, ServiceEngine(service.url, KEY) as engine:
        service.execute("open('f', 'w').close()", session_id="s")
        heard: list[Any] = []
        run = run_code("report(1); for (;;);", report=heard.append, engine=engine)
        assert await eventually(lambda: heard)
        with ExitStack() as stack:
            for each in _GOING_ON:
                next(stack.enter_context(streaming(service, *each)))
            family = _family(service)
            service.process.kill()
            service.process.wait(60)
        assert family
        assert until(lambda: all(map(gone, family)))
        found = await asyncio.wait_for(run, 60)
        assert found.error is not None
        assert (found.status, found.error.name) == ("error", "WorkerLost")
    assert list(tmp_path.glob("sandbox-kernel-workspaces-*/s/f"))
    with serving(TMPDIR=str(tmp_path)) as service:
        service.execute("print(1)", session_id="t")
        assert not list(tmp_path.glob("sandbox-kernel-workspaces-*/s"))


@only_in_soak
@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
def test_a_service_that_ends_while_it_starts_leaves_nothing(
    number: signal.Signals, tmp_path: Path
) -> None:
    """At any moment until it is ready, and a little after."""
    begun = time.monotonic()
    with serving(TMPDIR=str(tmp_path)) as service:
        assert until(lambda: service.ask("GET", "/readyz").status == 200, 60)
        whole = time.monotonic() - begun
    for step in range(_MOMENTS):
        process = start("--listen", "127.0.0.1:0", TMPDIR=str(tmp_path))
        begun = time.monotonic()
        family: set[int] = set()
        while time.monotonic() - begun < whole * 1.2 * step / _MOMENTS:
            with suppress(psutil.NoSuchProcess):
                children = psutil.Process(process.pid).children(recursive=True)
                family.update(each.pid for each in children)
            time.sleep(0.005)
        process.send_signal(number)
        process.communicate(timeout=60)
        assert until(lambda: all(map(gone, family)))  # noqa: B023  # called before the loop goes on
    with serving(TMPDIR=str(tmp_path)) as service:
        service.execute("print(1)", session_id="s")
    for left in tmp_path.iterdir():  # made, but not yet marked as theirs; removed a minute later
        assert left.name.startswith("sandbox-kernel-workspaces-")
        assert list(left.iterdir()) == []


def test_a_stopped_service_goes_on_where_it_was(service: Service) -> None:
    with holding() as (url, released):
        code = "call_tool('wait'); print(1)"
        thread, found = _in_background(service, code=code, callback_url=url)
        assert until(lambda: _is_executing(service))
        service.process.send_signal(signal.SIGSTOP)
        try:
            with socket.create_connection(_address(service), 5) as asking:
                asking.settimeout(0.3)
                asking.sendall(b"GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n")
                with pytest.raises(TimeoutError):
                    asking.recv(1)
            released.set()
        finally:
            service.process.send_signal(signal.SIGCONT)
        thread.join(60)
        assert found[0].json["stdout"] == "1\n"


def _address(service: Service) -> tuple[str, int]:
    host, _, port = service.url.removeprefix("http://").partition(":")
    return host, int(port)


@pytest.mark.parametrize(
    "number",
    [signal.SIGKILL, *(pytest.param(each, marks=only_in_soak) for each in _TERM_AND_STOP)],
)
def test_processes_that_die_or_hang_cost_their_answers_at_most(number: signal.Signals) -> None:
    """Whatever the service has started: zygotes, guardians, supervisors, guests, workers."""
    with serving("--max-timeout-ms", "2000", "--max-concurrent", "3") as service:
        with ExitStack() as stack:
            streams = [stack.enter_context(streaming(service, *each)) for each in _GOING_ON]
            for events in streams:
                next(events)
            for pid in _family(service):
                with suppress(ProcessLookupError):
                    os.kill(pid, number)
            assert {list(events)[-1]["event"] for events in streams} == {"result"}

        def works() -> bool:
            program = service.ask("POST", "/execute", {"code": "print(1)"})
            run = service.ask("POST", "/run", {"source": "export default 1"})
            assert {program.status, run.status} <= {200, 503}
            return program.json.get("stdout") == "1\n" and run.json.get("status") == "success"

        assert until(works, 60)


_CLIENT = """
import sys, urllib.request
url, key, body = sys.argv[1:]
request = urllib.request.Request(url + '/execute', body.encode(),
    {'Content-Type': 'application/json', 'Authorization': 'Bearer ' + key})
print(urllib.request.build_opener(urllib.request.ProxyHandler({})).open(request).read().decode())
"""


@pytest.mark.parametrize(
    "number", [signal.SIGKILL, pytest.param(signal.SIGTERM, marks=only_in_soak)]
)
def test_a_killed_client_ends_its_run(service: Service, number: signal.Signals) -> None:
    command = [sys.executable, "-c", _CLIENT, service.url, KEY, json.dumps({"code": _ENDLESS})]
    with subprocess.Popen(command) as client:
        assert until(lambda: _is_executing(service))
        client.send_signal(number)
    assert until(lambda: _is_executing(service, 0))


def test_a_stopped_client_finds_its_answer_when_it_goes_on(service: Service) -> None:
    with holding() as (url, released):
        body = {"code": "call_tool('wait'); print(1)", "callback_url": url}
        command = [sys.executable, "-c", _CLIENT, service.url, KEY, json.dumps(body)]
        with subprocess.Popen(command, stdout=subprocess.PIPE) as client:
            assert until(lambda: _is_executing(service))
            client.send_signal(signal.SIGSTOP)
            released.set()
            assert until(lambda: _is_executing(service, 0))
            client.send_signal(signal.SIGCONT)
            answer = json.loads(client.communicate(timeout=60)[0])
    assert answer["stdout"] == "1\n"


@pytest.mark.parametrize(
    "headers", ["", "Accept: application/x-ndjson\r\n"], ids=["plain", "events"]
)
def test_a_client_that_does_not_read_is_not_waited_for(service: Service, headers: str) -> None:
    """Its answer is larger than what a connection holds by itself."""
    assert until(lambda: connections(service) == 0)
    code = "import sys\nfor _ in range(160): sys.stdout.write('x' * 2**17)"
    with connected(service) as connection:
        connection.sendall(posted("/execute", {"code": code}, headers))
        assert until(lambda: _is_executing(service))
        assert until(lambda: _is_executing(service, 0))
        assert until(lambda: connections(service) == 0)


# ---------------------------------------------------------------------------- unix sockets


def _ask_unix(path: Path, host: str = "localhost") -> bytes:
    with socket.socket(socket.AF_UNIX) as connection:
        connection.connect(str(path))
        connection.sendall(
            f"GET /health HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n".encode()
        )
        return b"".join(iter(lambda: connection.recv(65536), b""))


def test_it_listens_on_a_unix_socket_of_its_user_alone(tmp_path: Path) -> None:
    """And takes over what a killed one left, but not what another one listens on."""
    path = tmp_path / "socket"
    killed = start("--listen", f"unix:{path}")
    assert until(lambda: path.exists() and path.stat().st_mode & 0o777 == 0o600)
    assert until(lambda: _answers(path))
    killed.kill()
    killed.communicate(timeout=60)
    assert path.exists()
    process = start("--listen", f"unix:{path}")
    assert until(lambda: _answers(path))
    assert b" 400 " in _ask_unix(path, host="evil.example").splitlines()[0]
    other = start("--listen", f"unix:{path}")
    assert "another process" in other.communicate(timeout=60)[1]
    process.terminate()
    process.communicate(timeout=60)
    assert not path.exists()


def _answers(path: Path) -> bool:
    try:
        return b'"ready"' in _ask_unix(path)
    except (ConnectionRefusedError, FileNotFoundError):
        return False
