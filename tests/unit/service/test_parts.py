"""Parts of the service by themselves."""

from __future__ import annotations

import asyncio
import re
import sys
from typing import Any

import pytest

from sandbox_kernel.errors import OptionError
from sandbox_kernel.service import book as books
from sandbox_kernel.service.addresses import Address, address_of, names_of, pattern_of_callbacks
from sandbox_kernel.service.book import Book
from sandbox_kernel.service.flags import traits_of
from sandbox_kernel.service.job import Job
from sandbox_kernel.service.metrics import Metrics
from sandbox_kernel.service.refusals import Refusal
from sandbox_kernel.service.requests import run_request
from sandbox_kernel.service.service import Service
from sandbox_kernel.service.settings import Settings

# ---------------------------------------------------------------------------- addresses


@pytest.mark.parametrize(
    ("text", "address", "is_local"),
    [
        ("127.0.0.1:9000", Address("127.0.0.1", 9000), True),
        ("127.8.8.8:0", Address("127.8.8.8", 0), True),
        ("localhost:1", Address("localhost", 1), True),
        ("[::1]:9000", Address("::1", 9000), True),
        (":9000", Address("", 9000), False),
        ("0.0.0.0:9000", Address("0.0.0.0", 9000), False),
        ("[::]:9000", Address("::", 9000), False),
        ("10.0.0.1:9000", Address("10.0.0.1", 9000), False),
        ("unix:/run/x", Address(path="/run/x"), True),
    ],
)
def test_an_address_is_read(text: str, address: Address, is_local: bool) -> None:
    assert address_of(text) == address
    assert address.is_local is is_local


@pytest.mark.parametrize("text", ["", "9000", "x:1", "127.0.0.1", "127.0.0.1:x", ":65536", "unix:"])
def test_what_is_no_address_is_refused(text: str) -> None:
    with pytest.raises(OptionError, match="address"):
        address_of(text)


def test_elsewhere_any_name_is_meant_unless_some_are_given() -> None:
    assert names_of(address_of(":9000"), []) is None
    assert names_of(address_of(":9000"), ["Sandbox"]) == frozenset({"sandbox"})
    assert "sandbox" in (names_of(address_of("127.0.0.1:1"), ["sandbox"]) or ())


@pytest.mark.parametrize(
    ("requester", "url", "fits"),
    [
        ("10.1.2.3", "http://10.1.2.3:8080/_oasis/dispatch", True),
        ("10.1.2.3", "http://127.0.0.1:8080/", False),
        ("10.1.2.3", "http://10.1.2.30/", False),
        ("10.1.2.3", "http://10x1.2.3/", False),
        ("::ffff:10.1.2.3", "http://10.1.2.3/", True),
        ("fd00::1", "http://[fd00::1]:1/", True),
        ("127.0.0.1", "https://localhost/a?b=c", True),
        ("", "http://127.0.0.1:1/x", True),
        ("10.1.2.3", "http://agent:80/", True),
        ("10.1.2.3", "http://agent.evil.example/", False),
    ],
)
def test_callbacks_go_where_they_may(requester: str, url: str, fits: bool) -> None:
    pattern = pattern_of_callbacks(requester, ("agent",))
    assert bool(re.fullmatch(pattern, url)) is fits


# ---------------------------------------------------------------------------- the service


async def test_a_runtime_that_is_not_there_is_not_to_be_tried_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("sandbox_kernel.service.service.is_installed", lambda name: name != "deno")
    service = Service(Settings())
    try:
        with pytest.raises(Refusal, match="deno is not installed here") as refusal:
            service.execute(b'{"code": "", "language": "deno"}', "")
        assert refusal.value.code == "bad_request"
    finally:
        service.close()


# ---------------------------------------------------------------------------- the book


def _ended(execution_id: str, size: int = 10) -> Job:
    job = Job(execution_id, b"", True)
    job.end(b"x" * size)
    return job


def test_an_answer_is_kept_for_ten_minutes() -> None:
    now = [0.0]
    book = Book(lambda: now[0])
    job = _ended("a")
    book.add(job)
    book.ended(job)
    now[0] = 600.0
    assert book.find("a") is job
    now[0] = 600.1
    assert book.find("a") is None
    assert len(book) == 0


async def test_an_answer_that_had_to_be_dropped_is_not_executed_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(books, "MOST_BYTES", 25)
    book = Book()
    jobs = [_ended(str(number)) for number in range(4)]
    for job in jobs:
        book.add(job)
        book.ended(job)
    assert [job.answer is None for job in jobs] == [True, True, False, False]
    assert book.find("0") is jobs[0]
    with pytest.raises(Refusal, match="no longer kept") as refusal:
        await jobs[0].settled()
    assert refusal.value.code == "conflict"


async def test_an_answer_that_is_too_large_to_be_kept_is_given_to_those_who_wait_for_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(books, "MOST_BYTES", 25)
    book, job = Book(), Job("large", b"", True)
    book.add(job)
    job.watch()
    waiting = asyncio.create_task(job.settled())
    await asyncio.sleep(0)
    job.end(b"x" * 30)
    book.ended(job)
    assert await waiting == b"x" * 30
    job.unwatch(lambda _: None)
    with pytest.raises(Refusal, match="no longer kept"):
        await job.settled()


def test_too_many_ids_are_refused_rather_than_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(books, "MOST_IDS", 2)
    book = Book()
    for name in "ab":
        book.add(_ended(name))
    with pytest.raises(Refusal) as refusal:
        book.add(_ended("c"))
    assert refusal.value.code == "busy"


def test_ids_that_the_service_made_are_not_kept() -> None:
    book = Book()
    job = Job("made", b"", False)
    book.add(job)
    job.end(b"{}")
    book.ended(job)
    assert len(book) == 0


# ---------------------------------------------------------------------------- settings


@pytest.mark.parametrize(
    ("words", "trait", "value"),
    [
        (["--session-ttl", "1h30m"], "session_ttl", 5400.0),
        (["--session-ttl=90"], "session_ttl", 90.0),
        (["--session-ttl", "500ms"], "session_ttl", 0.5),
        (["--max-body", "2MiB"], "max_body", 2**21),
        (["--grace", "0"], "grace", 0.0),
        (["--host", "a", "--host", "b"], "hosts", ["a", "b"]),
        (["--install-packages"], "install_packages", True),
    ],
)
def test_a_flag_is_read(words: list[str], trait: str, value: Any) -> None:
    assert traits_of(words, {})[trait] == value


@pytest.mark.parametrize(
    ("words", "named"),
    [
        (["--listen", "127.0.0.1:1", "--listen", "127.0.0.1:2"], "twice"),
        (["--install-packages=yes"], "no value"),
        (["--session-ttl", "1 h"], "--session-ttl"),
        (["--max-body", "1TB"], "--max-body"),
        (["--max-output", "-1"], "--max-output"),
        (["--callback-host", "http://agent:8080"], "--callback-host must be the name"),
        (["--host", "agent:8080"], "--host must be the name"),
        (["--key-file", "/dev/null"], "--key-file: '/dev/null' is empty"),
        (["--key-file", "/"], "--key-file: '/' cannot be read: Is a directory"),
    ],
)
def test_a_flag_that_cannot_be_read_is_named(words: list[str], named: str) -> None:
    with pytest.raises(OptionError, match=named):
        traits_of(words, {})


def test_a_key_is_what_a_header_can_have() -> None:
    """A secret that ends with a line break would never be shown as it is."""
    name = "SANDBOX_EXECUTOR_SERVICE_API_KEY"
    assert traits_of([], {name: "s e cret\n"})["key"] == "s e cret"
    assert not traits_of([], {name: " \n"})["key"]
    for key in ("schlüssel", "a\nb"):
        with pytest.raises(OptionError, match=f"{name}: a key has"):
            traits_of([], {name: key})


def test_an_empty_variable_is_none() -> None:
    assert traits_of([], {"SANDBOX_MAX_CONCURRENT": "", "SANDBOX_SESSION_TTL": "2h"}) == {
        "session_ttl": 7200.0
    }


# ---------------------------------------------------------------------------- requests


def test_a_body_that_is_just_too_deep_is_refused_like_any_other() -> None:
    """What can still be read may be too deep to be checked, or to be told apart from others."""
    body = '{"source": "", "execution_id": "x", "options": {"globals": {"x": %s}}}'
    said: set[str] = set()
    for depth in range(1, sys.getrecursionlimit()):
        try:
            run_request((body % ("[" * depth + "]" * depth)).encode(), "")
        except Refusal as refusal:
            said.add(str(refusal))
    assert said <= {"the body is nested too deep"}


# ---------------------------------------------------------------------------- metrics


def test_metrics_are_as_prometheus_reads_them() -> None:
    metrics = Metrics()
    metrics.requests["/execute", 200] += 2
    metrics.ended("execute", "success", 0.02)
    metrics.ended("run", "error", 400.0)
    text = metrics.text({"executions_running": ("Now.", 1)})
    line = re.compile(r'(# (HELP|TYPE) \w+ .+|\w+(\{(\w+="[^"]*",?)+\})? [0-9.e+]+)')
    assert all(line.fullmatch(each) for each in text.splitlines())
    assert 'sandbox_requests_total{route="/execute",status="200"} 2' in text
    assert 'sandbox_execution_seconds_bucket{le="0.025"} 1' in text
    assert 'sandbox_execution_seconds_bucket{le="+Inf"} 2' in text
