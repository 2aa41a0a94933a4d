"""Who gets in: keys, names, origins, sizes, times. Each is refused before anything runs."""

from __future__ import annotations

import json
import socket
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

import psutil
import pytest

from sandbox_kernel.cli import main
from sandbox_kernel.service.flags import traits_of
from tests.contract.serving import KEY, Service, ask, start
from tests.service.talking import HANDSHAKE, Small, connected, everything, head, posted, said
from tests.waiting import until

_CODE = {"code": "print(1)"}


def _post(service: Service, headers: dict[str, str], body: Any = _CODE) -> Any:
    given = {"Content-Type": "application/json", **headers}
    return ask("POST", f"{service.url}/execute", json.dumps(body).encode(), given)


def _refused(answer: Any, status: int, code: str) -> str:
    assert (answer.status, answer.json["error"]["code"]) == (status, code)
    return str(answer.json["error"]["message"])


# ---------------------------------------------------------------------------- keys


@pytest.mark.parametrize(
    "headers",
    [
        {"Authorization": f"Bearer {KEY}"},
        {"Authorization": f"bearer {KEY}"},
        {"X-Service-API-Key": KEY},
        {"X-Service-API-Key": f"Bearer {KEY}"},
    ],
)
def test_a_key_is_shown_in_either_header(service: Service, headers: dict[str, str]) -> None:
    assert _post(service, headers).status == 200


@pytest.mark.parametrize(
    "headers",
    [
        {},
        {"Authorization": KEY},
        {"Authorization": f"Basic {KEY}"},
        {"Authorization": "Bearer "},
        {"X-Service-API-Key": ""},
        {"X-Service-API-Key": KEY[:-1]},
        {"X-Service-API-Key": KEY.upper()},
        {"Authorization": "Bearer \xff"},
    ],
)
def test_without_the_key_nothing_is_said(service: Service, headers: dict[str, str]) -> None:
    answer = _post(service, headers)
    _refused(answer, 401, "unauthorized")
    assert answer.headers["Www-Authenticate"] == "Bearer"


@pytest.mark.parametrize(
    "path", ["/metrics", "/openapi.json", "/workspace/a/b", "/nothing", "/worker"]
)
def test_everything_but_health_needs_the_key(service: Service, path: str) -> None:
    assert ask("GET", service.url + path, None, {}).status == 401
    for open_to_all in ("/health", "/healthz", "/readyz"):
        assert until(lambda: ask("GET", service.url + open_to_all, None, {}).status == 200)  # noqa: B023  # called before the loop goes on


# ---------------------------------------------------------------------------- pages in browsers


@pytest.mark.parametrize(
    "host", ["evil.example", "evil.example:9000", "127.0.0.1.evil.example", ""]
)
@pytest.mark.parametrize("path", ["/health", "/execute"])
def test_a_name_that_was_rebound_to_loopback_is_refused(
    service: Service, host: str, path: str
) -> None:
    """A page whose own name now leads to 127.0.0.1 sends that name."""
    request = head("GET", path, "Connection: close\r\n", host=host)
    assert b" 400 " in said(service, request).splitlines()[0]


@pytest.mark.parametrize("host", ["localhost:1", "127.0.0.1", "LOCALHOST", "[::1]:80"])
def test_names_of_loopback_are_meant(service: Service, host: str) -> None:
    request = head("GET", "/health", "Connection: close\r\n", host=host)
    assert b" 200 " in said(service, request).splitlines()[0]


@pytest.mark.parametrize("origin", ["https://evil.example", "null", "http://127.0.0.1", ""])
def test_pages_of_a_browser_are_not_served(service: Service, origin: str) -> None:
    answer = _post(service, {"Authorization": f"Bearer {KEY}", "Origin": origin})
    assert "Origin" in _refused(answer, 400, "bad_request")


@pytest.mark.parametrize("kind", ["text/plain", "application/x-www-form-urlencoded", "text/json"])
def test_what_a_form_can_send_is_not_taken(service: Service, kind: str) -> None:
    answer = _post(service, {"Authorization": f"Bearer {KEY}", "Content-Type": kind})
    _refused(answer, 415, "unsupported_media_type")


def test_json_may_name_its_encoding(service: Service) -> None:
    headers = {"Authorization": f"Bearer {KEY}", "Content-Type": "Application/JSON; charset=utf-8"}
    assert _post(service, headers).status == 200


def test_answers_are_never_shown_by_a_browser(service: Service) -> None:
    headers = service.ask("GET", "/health").headers
    assert headers["X-Content-Type-Options"] == "nosniff"
    assert "default-src 'none'" in headers["Content-Security-Policy"]
    assert "Server" not in headers


# ---------------------------------------------------------------------------- what is not the contract


@pytest.mark.parametrize(
    ("body", "named"),
    [
        (b"", "JSON"),
        (b"{", "JSON"),
        (b"[]", "object"),
        (b"null", "object"),
        (b'{"code": NaN}', "NaN"),
        (b'{"code": "\xff"}', "UTF-8"),
        (b"[" * 100_000, "nested"),
        ({}, "code"),
        ({"code": 1}, "code"),
        ({"code": 10**400}, "code"),
        ({"code": None}, "code"),
        ({"code": "\ud800"}, "code"),
        ({"code": "", "cod": ""}, "cod"),
        ({"code": "", "language": "cobol"}, "language"),
        ({"code": "", "language": "python", "runtime": "python"}, "runtime"),
        ({"code": "", "stdin": 1}, "stdin"),
        ({"code": "", "args": "a"}, "args"),
        ({"code": "", "args": ["a\0b"]}, "args[0]"),
        ({"code": "", "args": [1]}, "args[0]"),
        ({"code": "", "timeout_ms": "1"}, "timeout_ms"),
        ({"code": "", "timeout_ms": 0}, "timeout_ms"),
        ({"code": "", "timeout_ms": -1}, "timeout_ms"),
        ({"code": "", "timeout_ms": True}, "timeout_ms"),
        ({"code": "", "timeout": 1, "timeout_ms": 1}, "timeout"),
        ({"code": "", "files": {}}, "files"),
        ({"code": "", "files": [{"name": "a"}]}, "files[0]"),
        ({"code": "", "files": [{"name": "../a", "content": ""}]}, "files[0].name"),
        ({"code": "", "files": [{"name": "a/b", "content": ""}]}, "files[0].name"),
        ({"code": "", "files": [{"name": "", "content": ""}]}, "files[0].name"),
        ({"code": "", "files": [{"name": "a", "data": "?"}]}, "files[0].data"),
        ({"code": "", "files": [{"name": "a", "data": "", "content": ""}]}, "content"),
        ({"code": "", "files": [{"name": "a", "data": ""}] * 2}, "files[1].name"),
        ({"code": "", "session_id": "../x"}, "session_id"),
        ({"code": "", "session_id": ".hidden"}, "session_id"),
        ({"code": "", "execution_id": "a b"}, "execution_id"),
        ({"code": "", "tools": ["a"]}, "tools"),
        ({"code": "", "tools": "a", "callback_url": "http://127.0.0.1:1/"}, "tools"),
    ],
)
def test_a_wrong_body_is_refused_by_the_name_of_its_field(
    service: Service, body: Any, named: str
) -> None:
    answer = service.ask("POST", "/execute", body)
    assert named in _refused(answer, 400, "bad_request")


@pytest.mark.parametrize("method", ["GET", "PUT", "DELETE", "PATCH", "HEAD", "OPTIONS"])
def test_another_method_is_told_which_one(service: Service, method: str) -> None:
    answer = service.ask(method, "/execute")
    assert answer.status == 405
    assert answer.headers["Allow"] == "POST"


def test_an_unknown_path_is_not_found(service: Service) -> None:
    for path in ("/", "/execute/", "/workspace", "/runs/x/y", "/..%2f..%2fetc/passwd"):
        _refused(service.ask("GET", path), 404, "not_found")


def test_an_answer_tells_nothing_of_the_host(service: Service) -> None:
    """No paths, no tracebacks of ours, no environment, whatever goes wrong."""
    bodies = [b"\xff", {"code": 1}, {"code": "", "session_id": "/"}, {"code": "1/0"}]
    for body in bodies:
        text = service.ask("POST", "/execute", body).body.decode()
        assert "sandbox_kernel" not in text
        assert str(Path.home()) not in text
    found = service.execute("import os; print(dict(os.environ))")["stdout"]
    assert "SANDBOX" not in found
    assert KEY not in found


# ---------------------------------------------------------------------------- sizes and times


def test_a_body_that_says_it_is_too_large_is_not_read(service: Service) -> None:
    kind = "Content-Type: application/json\r\nContent-Length: 99999999999\r\n"
    with connected(service) as connection:
        connection.sendall(head("POST", "/execute", kind))
        assert b" 413 " in connection.recv(65536).splitlines()[0]


def test_a_length_of_any_length_is_too_large(service: Service) -> None:
    kind = f"Content-Type: application/json\r\nContent-Length: {'9' * 5000}\r\n"
    with connected(service) as connection:
        connection.sendall(head("POST", "/execute", kind))
        assert b" 413 " in connection.recv(65536).splitlines()[0]


def test_bodies_are_bounded_together(service: Service) -> None:
    """Four of the largest are in memory at once; more are busy, and read away."""
    kind = f"Content-Type: application/json\r\nContent-Length: {2**20}\r\n"
    waiting = [connected(service) for _ in range(6)]
    for connection in waiting:
        connection.sendall(head("POST", "/execute", kind) + b" " * (2**20 - 1))
    time.sleep(0.5)  # they are all being held, or refused
    for connection in waiting:
        connection.sendall(b" ")
    statuses = sorted(connection.recv(65536).split()[1] for connection in waiting)
    assert statuses[0] == b"400"
    assert statuses[-1] == b"503"
    for connection in waiting:
        connection.close()
    assert service.execute("print(1)")["stdout"] == "1\n"


def test_a_body_that_never_ends_is_cut(service: Service) -> None:
    kind = "Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n"
    piece = b"10000\r\n" + b" " * 0x10000 + b"\r\n"
    with connected(service) as connection:
        connection.sendall(head("POST", "/execute", kind))
        sent = 0
        try:
            while sent < 200 and not _has_answer(connection):
                connection.sendall(piece)
                sent += 1
        except (BrokenPipeError, ConnectionResetError):
            pass
        assert sent < 200
    assert service.ask("GET", "/health").status == 200


@pytest.mark.parametrize("path", ["/worker", "/health", "/nowhere"])
def test_a_body_where_none_belongs_is_not_kept(service: Service, path: str) -> None:
    """Nor does it take a key to send one."""
    process = psutil.Process(service.process.pid)
    before = process.memory_info().rss
    with connected(service) as connection:
        beginning = f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: {2**40}\r\n\r\n"
        connection.sendall(beginning.encode())
        with suppress(BrokenPipeError, ConnectionResetError):
            for _ in range(200):
                connection.sendall(b"x" * 2**20)
        assert process.memory_info().rss - before < 50 * 2**20
    assert service.ask("GET", "/health").status == 200


@pytest.mark.parametrize(
    ("method", "headers", "status"),
    [
        ("GET", "", 400),
        ("GET", "Upgrade: websocket\r\n", 400),
        ("GET", "Upgrade: websocket\r\nConnection: Upgrade\r\n", 400),
        ("GET", HANDSHAKE.replace("13", "99"), 400),
        ("GET", HANDSHAKE + "Origin: http://127.0.0.1\r\n", 400),
        ("GET", HANDSHAKE + "Sec-WebSocket-Origin: http://127.0.0.1\r\n", 400),
        ("GET", HANDSHAKE + "Content-Length: 5\r\n", 400),
        ("POST", "Content-Length: 0\r\n", 405),
        ("BREW", "", 405),
    ],
)
def test_what_is_no_websocket_is_refused_like_anything_else(
    service: Service, method: str, headers: str, status: int
) -> None:
    with connected(service) as connection:
        connection.sendall(head(method, "/worker", headers))
        answer = connection.recv(65536)
    beginning, _, body = answer.partition(b"\r\n\r\n")
    assert f" {status} ".encode() in beginning
    assert json.loads(body)["error"]["code"] in ("bad_request", "method_not_allowed")
    assert b"Server:" not in beginning
    assert b"Cache-Control: no-store" in beginning


def test_a_websocket_is_one_after_all_that(service: Service) -> None:
    with connected(service) as connection:
        connection.sendall(head("GET", "/worker", HANDSHAKE))
        answer = connection.recv(65536)
    assert answer.startswith(b"HTTP/1.1 101 ")
    assert b"Server:" not in answer


def _has_answer(connection: socket.socket) -> bool:
    connection.setblocking(False)
    try:
        return b" 413 " in connection.recv(65536)
    except BlockingIOError:
        return False
    finally:
        connection.settimeout(60)


def test_a_body_of_the_most_bytes_is_taken(service: Service) -> None:
    room = 2**20 - len(json.dumps({"code": "", "stdin": ""}))
    assert service.execute("", stdin="x" * room)["exit_code"] == 0
    answer = service.ask("POST", "/execute", {"code": "", "stdin": "x" * (room + 1)})
    assert (answer.status, answer.json["error"]["code"]) == (413, "too_large")


def test_huge_headers_end_the_connection(service: Service) -> None:
    assert said(service, head("GET", "/health", f"X-Large: {'x' * 100_000}\r\n")) == b""
    many = "".join(f"X-{number}: x\r\n" for number in range(20_000))
    assert said(service, head("GET", "/health", many)) == b""
    assert service.ask("GET", "/health").status == 200


def test_a_request_that_does_not_come_is_not_waited_for(service: Service) -> None:
    """Slow loris: connections held open by saying almost nothing. Here two seconds are enough.

    Fifty of them wait for their body meanwhile, and take no place from others.
    """
    kind = "Content-Type: application/json\r\nContent-Length: 100\r\n"
    beginnings = [b"", b"POST /exec", head("POST", "/execute")[:-2]]
    beginnings += [head("GET", "/health", "Content-Length: 9\r\n")]
    beginnings += [head("POST", "/execute", kind) + b"{"] * 50
    waiting = [connected(service) for _ in beginnings]
    for connection, beginning in zip(waiting, beginnings, strict=True):
        connection.sendall(beginning)
    assert service.execute("print(1)")["stdout"] == "1\n"
    for connection in waiting:
        with connection:
            assert everything(connection) == b""


def test_a_request_that_comes_byte_by_byte_is_not_waited_for_either(service: Service) -> None:
    kind = "Content-Type: application/json\r\nContent-Length: 10000\r\n"
    for beginning in (b"GET /health HTTP/1.1\r\nX-Slow: ", head("POST", "/execute", kind)):
        with connected(service) as connection:
            connection.sendall(beginning)
            connection.settimeout(0.1)
            sent = 0
            while sent < 600 and not _has_ended(connection):
                sent += 1
            assert 0 < sent < 600


def _has_ended(connection: socket.socket) -> bool:
    """Whether the other side hung up, instead of waiting for one more byte."""
    try:
        connection.sendall(b"x")
        return connection.recv(65536) == b""
    except TimeoutError:
        return False
    except (BrokenPipeError, ConnectionResetError):
        return True


def test_a_connection_is_not_kept_for_requests_that_do_not_come(service: Service) -> None:
    with connected(service) as connection:
        connection.sendall(head("GET", "/health") * 2)
        assert everything(connection).count(b"HTTP/1.1 200 OK") == 2


def test_answers_that_are_not_read_are_not_waited_for(service: Service) -> None:
    """They are more than a connection holds by itself."""
    with connected(service) as connection, pytest.raises((BrokenPipeError, ConnectionResetError)):
        connection.sendall(head("GET", "/openapi.json") * 100_000)


def test_connections_are_counted(small: Small) -> None:
    taken = [connected(small.service) for _ in range(3 * small.most_connections)]
    for connection in taken:
        connection.sendall(head("GET", "/health"))
    answers = [connection.recv(10_000) if _readable(connection) else b"" for connection in taken]
    assert 0 < sum(b" 200 " in each for each in answers) <= small.most_connections
    for connection in taken:
        connection.close()
    assert until(lambda: _is_served(small.service))


def _readable(connection: socket.socket) -> bool:
    try:
        return bool(connection.recv(1, socket.MSG_PEEK))
    except ConnectionResetError:
        return False


def _is_served(service: Service) -> bool:
    try:
        return service.ask("GET", "/health").status == 200
    except OSError:
        return False


# ---------------------------------------------------------------------------- starting


@pytest.mark.parametrize(
    ("flags", "named"),
    [
        (["--listen", "nowhere"], "--listen"),
        (["--listen", "example.org:80"], "--listen"),
        (["--listen", "127.0.0.1:99999"], "--listen"),
        (["--max-concurrent", "0"], "--max-concurrent"),
        (["--max-timeout-ms", "300001"], "--max-timeout-ms"),
        (["--session-ttl", "0s"], "--session-ttl"),
        (["--grace"], "--grace"),
        (["--key-file", "/nowhere"], "--key-file"),
        (["--max-concurent", "3"], "--max-concurrent"),
        (["serve"], "serve"),
    ],
)
def test_a_flag_that_cannot_be_read_stops_the_start(
    flags: list[str],
    named: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setenv("SANDBOX_EXECUTOR_SERVICE_API_KEY", KEY)
    assert main(["serve", *flags]) == 2
    assert named in capsys.readouterr().err


@pytest.mark.parametrize(
    ("flags", "told"),
    [
        (["--workspaces", "/proc/nowhere"], "SANDBOX_WORKSPACE): '/proc/nowhere' cannot hold"),
        (["--listen", f"unix:/tmp/{'x' * 200}"], "AF_UNIX path too long"),
    ],
)
def test_a_place_that_cannot_be_used_stops_the_start(flags: list[str], told: str) -> None:
    process = start(*flags)
    assert told in process.communicate(timeout=60)[1]
    assert process.returncode == 2


def test_without_a_key_it_listens_on_loopback_only(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.delenv("SANDBOX_EXECUTOR_SERVICE_API_KEY", raising=False)
    monkeypatch.setenv("SANDBOX_ENVIRONMENT", "dev")
    assert main(["serve", "--listen", ":0"]) == 2
    assert "loopback" in capsys.readouterr().err


def test_flags_beat_the_executors_variables_which_beat_the_sandboxs() -> None:
    names = {"SANDBOX_MAX_CONCURRENT": "3", "SANDBOX_EXECUTOR_MAX_CONCURRENT_JOBS": "5"}
    assert traits_of([], names) == {"max_concurrent": 5}
    assert traits_of(["--max-concurrent", "7"], names) == {"max_concurrent": 7}


def test_a_key_may_come_from_a_file(small: Small) -> None:
    assert small.service.execute("print(1)")["stdout"] == "1\n"
    assert small.service.ask("POST", "/execute", _CODE, key="x").status == 401


def test_posted_requests_may_follow_each_other_on_a_connection(service: Service) -> None:
    with connected(service) as connection:
        connection.sendall(posted("/execute", _CODE) * 2)
        found = b""
        while found.count(b'"exit_code": 0') < 2:
            found += connection.recv(65536)
