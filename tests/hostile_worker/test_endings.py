"""How a conversation ends: once, and what is said after that does not count."""

from __future__ import annotations

import asyncio
import sys
import threading
from typing import Any

import pytest

from sandbox_kernel import run_code
from sandbox_kernel.loans import Loan
from sandbox_kernel.wire.messages import CALL, CALLS, FAILED, REPORT
from tests.hostile_worker.fake import (
    Impostor,
    Peer,
    face,
    finished,
    frame,
    is_crash,
    play,
    ready,
    value,
)

LATE = [value(REPORT, 2), finished(2), value(CALL, [], 0, 0), frame(FAILED, "{}"), frame(200, "P1")]


def test_nothing_counts_after_the_end() -> None:
    called: list[int] = []
    said = [value(REPORT, 1), finished(1), *LATE]
    result = face(ready(), *said, globals={"f": lambda: called.append(1)})
    assert (result.status, result.result, result.reports) == ("success", 1, [1])
    assert called == []


@pytest.mark.skipif(sys.platform != "linux", reason="asks Linux what the host has read")
def test_nothing_counts_after_the_end_while_a_sink_keeps_the_run_open() -> None:
    sink_begun, host_has_read = threading.Event(), threading.Event()

    async def sink(value: Any) -> None:
        sink_begun.set()
        while not host_has_read.is_set():
            await asyncio.sleep(0)

    def script(peer: Peer) -> None:
        peer.send(ready(), value(REPORT, 1), finished(1))
        assert sink_begun.wait(20)
        peer.send(*LATE)
        peer.until_read()
        host_has_read.set()

    called: list[int] = []
    result = play(script, report=sink, globals={"f": lambda: called.append(1)})
    assert (result.status, result.result, result.reports) == ("success", 1, [1])
    assert called == []


FAILS = frame(
    FAILED,
    '{"status": "error", "name": "E", "message": "", "stack": null, "specifier": null,'
    ' "filename": null, "line": null, "column": null}',
)


@pytest.mark.parametrize("end", [finished(1), FAILS], ids=["finished", "failed"])
def test_calls_made_in_the_last_moment_have_begun_when_the_result_is_told(end: bytes) -> None:
    """All comes in one read; the result, which another thread waits for, says how the calls went."""
    heard: list[int] = []

    async def f(number: int) -> None:
        heard.append(number)
        if number == 3:
            raise ValueError("told")
        if number == 4:
            await asyncio.Event().wait()

    calls = value(CALLS, [[1, 0, [1]], [2, 0, [2]], [3, 0, [3]]])
    result = face(ready(), calls, value(CALL, [4], 4, 0), end, globals={"f": f})
    assert result.status == ("error" if end is FAILS else "success")
    assert heard == [1, 2, 3, 4]
    assert [call["outcome"] for call in result.calls] == ["ok", "ok", "error", "unfinished"]
    assert list(map(str, result.bridge_errors)) == ["told"]


def test_what_was_lent_is_given_back_after_the_last_calls_have_begun() -> None:
    seen: list[str] = []

    class Capability:
        name = "notes"

        def loan(self, name: str) -> Loan:
            async def write() -> None:
                seen.append("called")

            exports = {"": ("write",)}
            return Loan("host => ({'': host})", {"write": write}, exports, close=self.close)

        def close(self) -> None:
            seen.append("given back")

        def describe(self, name: str | None = None) -> str:
            return ""

    result = face(ready(), value(CALL, [], 1, 0), finished(1), lend=[Capability()])
    assert (result.status, seen) == ("success", ["called", "given back"])


async def test_a_run_that_is_stopped_while_its_last_calls_begin_settles_once() -> None:
    async def f() -> None:
        run.terminate("enough")

    impostor = Impostor(lambda peer: peer.send(ready(), value(CALL, [], 1, 0), finished(1)))
    run = run_code("", engine=impostor, globals={"f": f})
    result = await run
    assert (result.status, result.result) == ("success", 1)
    assert await run is result


async def test_a_worker_that_dies_after_its_result_has_succeeded() -> None:
    """Even if a sink keeps the run open at that time."""
    release = asyncio.Event()

    async def sink(value: Any) -> None:
        await release.wait()

    def script(peer: Peer) -> None:
        peer.send(ready(), value(REPORT, 1), finished(1))
        peer.socket.close()

    impostor = Impostor(script)
    run = run_code("", engine=impostor, report=sink)
    assert await asyncio.to_thread(impostor.exited.wait, 20)
    for _ in range(5):  # turns of the loop, in which it learns of that
        await asyncio.sleep(0)
    release.set()
    result = await run
    assert (result.status, result.result, result.reports) == ("success", 1, [1])


async def test_what_was_sent_before_a_terminate_still_counts() -> None:
    """The loop is busy when it arrives, and reads it only after the worker was killed."""
    sent = threading.Event()

    def script(peer: Peer) -> None:
        peer.send(ready(), value(REPORT, 1), value(REPORT, 2))
        sent.set()

    run = run_code("", engine=Impostor(script), report=lambda value: None)
    assert sent.wait(20)
    assert list(run.reports) == []
    run.terminate("enough")
    result = await run
    assert (result.status, result.reports) == ("terminated", [1, 2])


async def test_a_run_terminated_while_a_sink_keeps_it_open_settles_once() -> None:
    """It ends as terminated; that the sink is done afterwards does not end it again."""
    begun, cancelled = asyncio.Event(), asyncio.Event()

    async def sink(value: Any) -> None:
        begun.set()
        try:
            await asyncio.Event().wait()
        finally:
            cancelled.set()

    impostor = Impostor(lambda peer: peer.send(ready(), value(REPORT, 1), finished(1)))
    run = run_code("", engine=impostor, report=sink)
    await asyncio.wait_for(begun.wait(), 20)
    run.terminate("enough")
    result = await run
    assert (result.status, result.reports) == ("terminated", [1])
    await asyncio.wait_for(cancelled.wait(), 20)
    for _ in range(5):  # turns of the loop, in which whoever waits for the sink goes on
        await asyncio.sleep(0)
    assert await run is result


@pytest.mark.parametrize("cut", [1, 4, 19, 20, 21, 30])
def test_a_stream_cut_short_is_a_crash(cut: int) -> None:
    def script(peer: Peer) -> None:
        peer.send(ready(), value(REPORT, 1), value(REPORT, "a long one")[:cut])
        peer.socket.close()

    result = play(script)
    assert is_crash(result)
    assert result.reports == [1]


def test_a_worker_that_hangs_up_but_lives_on_is_a_crash() -> None:
    def script(peer: Peer) -> None:
        peer.send(ready(), value(REPORT, 1))
        peer.socket.shutdown(1)

    result = play(script)
    assert is_crash(result)
    assert result.error is not None
    assert result.error.message == "the worker ended without a result"
    assert result.reports == [1]
