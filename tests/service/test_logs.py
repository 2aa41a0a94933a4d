"""What the service writes on stderr, and what never gets there."""

from __future__ import annotations

import json
import os
import socket
import struct
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from logging import makeLogRecord
from typing import Any

import pytest

from sandbox_kernel.clean import is_clean
from sandbox_kernel.engine import packets
from sandbox_kernel.errors import OptionError
from sandbox_kernel.service.flags import traits_of
from sandbox_kernel.service.logs import Lines
from tests.contract.serving import KEY, Service, serving
from tests.service.talking import HANDSHAKE, connected, everything, head
from tests.waiting import until

_RESET = struct.pack("ii", 1, 0)
_MOST = 4_000  # characters of code in a line
_FORGED = '{"time": "2026-01-01T00:00:00.000Z", "level": "info", "message": "forged"}'


class Log(list[dict[str, Any]]):
    """The lines after the first, as objects; `text` is what was written."""

    text = ""

    @property
    def codes(self) -> list[str]:
        return [line["code"] for line in self if line["message"] == "code"]


@contextmanager
def logging(*flags: str, **environment: str) -> Iterator[tuple[Service, Log]]:
    """A service, and its log, which is there when it has ended."""
    log = Log()
    with serving(*flags, **environment) as service:
        yield service, log
        service.process.terminate()
        assert service.process.stderr is not None
        log.text = service.process.stderr.read()
        log += [json.loads(line) for line in log.text.splitlines()]


def _use_everything(service: Service) -> None:
    """Every field has a secret, in code and in values; some requests are refused."""
    ids = {"execution_id": "SECRET-id", "session_id": "SECRET-session"}
    given = {"stdin": "SECRET-stdin", "args": ["SECRET-arg"]}
    files = [{"name": "SECRET-file", "content": "SECRET-content"}]
    found = service.execute("print('SECRET-code')", files=files, **given, **ids)
    assert found["exit_code"] == 0
    assert service.execute("raise Exception('SECRET-code')")["exit_code"] == 1
    options = {"globals": {"x": "SECRET-global"}, "modules": {"./m": "/* SECRET-module */"}}
    run = {"source": "/* SECRET-code */ export default x", "options": options}
    assert service.ask("POST", "/run", run).json["result"] == "SECRET-global"
    service.ask("PUT", "/workspace/SECRET-session/SECRET-name", b"SECRET-bytes")
    service.ask("POST", "/execute", {"code": "SECRET-refused", "SECRET-field": 1})
    service.ask("POST", "/execute", b'{"code": "SECRET-refused')
    service.ask("POST", "/execute", {"code": "SECRET-refused"}, key="SECRET-key")
    service.ask("GET", "/SECRET-path?SECRET-query")


def test_logs_are_json_and_hold_neither_code_nor_values_nor_keys() -> None:
    with logging() as (service, log):
        _use_everything(service)
    assert {"method": "POST", "route": "/execute", "status": 200}.items() <= log[0].items()
    assert "SECRET" not in log.text
    assert KEY not in log.text


def test_logs_that_are_asked_for_code_hold_no_more_than_that() -> None:
    with logging("--log-code") as (service, log):
        _use_everything(service)
    sources = ["print('SECRET-code')", "raise Exception('SECRET-code')"]
    assert log.codes == [*sources, "/* SECRET-code */ export default x"]
    assert log.text.count("SECRET") == 3
    kinds = [(line["kind"], line["language"]) for line in log if line["message"] == "code"]
    assert kinds == [("execute", "python")] * 2 + [("run", "typescript")]


_CUT = [f"#{'x' * size}{KEY}" for size in range(_MOST - 20, _MOST + 1)]
_WITH_KEYS = [f"#{KEY}", f"#{KEY[:3]}\r{KEY[3:]}", *_CUT, f"#{KEY * 30}{'x' * 3_900}{KEY}"]
_BREAKS = ["\n", "\r", "\r\n", "\v", "\f", "\x1c", "\x85", "\u2028", "\u2029", "\0"]
_FORGING = "".join(f'x"{each}{_FORGED}{each}' for each in _BREAKS)
_FORGING += "\x1b[2J\x1b]0;title\x07\x9b31m\x7f\b\u202e\u200b"
_LARGE = ["#" + "\U0001f600" * 300_000, "#" + "\x1b" * 300_000, "#" + "x" * _MOST]


@pytest.fixture(scope="module")
def hostile() -> Log:
    """What is written of code that is meant to harm the log, or whoever reads it."""
    with logging("--max-body", "8MiB", SANDBOX_LOG_CODE="1") as (service, log):
        for code in [*_WITH_KEYS, _FORGING, *_LARGE]:
            assert service.execute(code)["exit_code"] in (0, 1)
        assert service.ask("POST", "/run", {"source": _FORGING}).status == 200
    return log


def test_keys_in_code_are_not_logged_wherever_the_code_is_cut(hostile: Log) -> None:
    codes = hostile.codes[: len(_WITH_KEYS)]
    assert codes[0] == "#[key]"
    assert KEY not in hostile.text
    for code in codes:
        assert not code.endswith(tuple(KEY[:size] for size in range(1, len(KEY))))


def test_code_forges_no_line_of_the_log_and_moves_no_cursor(hostile: Log) -> None:
    assert {line["message"] for line in hostile} == {"code", "request"}
    assert len(hostile.codes) == len(_WITH_KEYS) + len(_LARGE) + 2
    assert "forged" in hostile.codes[-1]
    assert all(map(is_clean, hostile.codes))
    assert hostile.text.replace("\n", "").isprintable()
    assert hostile.text.isascii()


def test_code_in_the_log_is_bounded(hostile: Log) -> None:
    sizes = [line["characters"] for line in hostile if line["message"] == "code"]
    assert sizes[-4:-1] == list(map(len, _LARGE))
    assert all(0 < len(code) <= _MOST for code in hostile.codes)
    assert max(map(len, hostile.text.splitlines())) < 16 * _MOST


def test_the_variable_says_yes_or_no() -> None:
    assert traits_of([], {"SANDBOX_LOG_CODE": "true"}) == {"log_code": True}
    assert traits_of([], {"SANDBOX_LOG_CODE": "0"}) == {"log_code": False}
    assert traits_of(["--log-code"], {"SANDBOX_LOG_CODE": "no"}) == {"log_code": True}
    with pytest.raises(OptionError, match="SANDBOX_LOG_CODE must be"):
        traits_of([], {"SANDBOX_LOG_CODE": "perhaps"})


def test_clients_that_hang_up_are_no_errors() -> None:
    """Whatever is on its way to them."""
    with logging() as (service, log):
        for _ in range(30):
            with connected(service) as connection:
                connection.sendall(head("GET", "/worker", HANDSHAKE))
                assert b" 101 " in connection.recv(65536)
                packet = packets.lend(1, 2**30)
                connection.sendall(bytes([0x82, 0x80 | len(packet), 0, 0, 0, 0]) + packet)
                connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _RESET)
        assert until(lambda: b"executions_running 0\n" in service.ask("GET", "/metrics").body)
    assert [line for line in log if line["level"] != "info"] == []


def test_a_log_that_nobody_reads_does_not_stop_the_service(service: Service) -> None:
    """The harness reads no more than the first line."""
    _fill_the_log(service)
    assert service.execute("print(1)")["stdout"] == "1\n"


def test_a_service_whose_log_nobody_reads_ends_when_it_is_told_to() -> None:
    with serving() as service:
        _fill_the_log(service)
        service.process.terminate()
        assert service.process.wait(60) == 0


def _fill_the_log(service: Service) -> None:
    """A pipe holds 64 KiB, some 400 lines."""
    with connected(service) as connection:
        connection.sendall(head("GET", "/health") * 799)
        connection.sendall(head("GET", "/health", "Connection: close\r\n"))
        assert everything(connection).count(b"HTTP/1.1 200 OK") == 800


def test_lines_that_are_lost_are_counted() -> None:
    reading, writing = os.pipe()
    lines = Lines(writing)
    for number in range(40_000):
        lines.emit(makeLogRecord({"msg": f"{number} {'x' * 100}", "levelname": "INFO"}))
    with os.fdopen(reading, "rb") as pipe:
        threading.Thread(target=_end, args=(lines, writing)).start()
        found = [json.loads(line)["message"] for line in pipe]
    lost = [int(message.split()[0]) for message in found if "were lost" in message]
    kept = [message for message in found if "were lost" not in message]
    assert sum(lost) + len(kept) == 40_000
    assert sum(lost) >= 20_000  # as many are held, at most


def _end(lines: Lines, writing: int) -> None:
    lines.stop()
    os.close(writing)
