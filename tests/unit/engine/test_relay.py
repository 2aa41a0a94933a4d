"""A worker elsewhere: its bytes pass unread, within windows; its loss, and what a hostile relay may do."""

from __future__ import annotations

import asyncio
import os
import signal
import threading
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import pytest

from sandbox_kernel import CodeExecutionResult, run_code
from sandbox_kernel.engine import distant, packets, relay
from sandbox_kernel.engine.distant import DistantWorker
from sandbox_kernel.engine.pool import WorkerPool
from sandbox_kernel.engine.relay import Relay
from sandbox_kernel.engine.settings import Settings
from sandbox_kernel.errors import ProtocolError
from sandbox_kernel.loops import LoopThread
from sandbox_kernel.wire.control import EXITED, Record
from tests.processes import gone
from tests.relaying import Channel, RelayBackend
from tests.waiting import until


@pytest.fixture(scope="module")
def pool() -> Iterator[WorkerPool]:
    pool = WorkerPool(Settings(spares=1, concurrency=100))
    yield pool
    pool.close()


def begin(pool: WorkerPool, **given: Any) -> tuple[RelayBackend, list[Channel]]:
    channels: list[Channel] = []
    return RelayBackend(pool, on_channel=channels.append, **given), channels


def _has_begun(channels: list[Channel], attempt: int) -> bool:
    return len(channels) > attempt and bool(channels[attempt].up)


def error_of(result: CodeExecutionResult) -> tuple[str, str]:
    assert result.error is not None
    return result.error.name, result.error.message


# -- packets


def test_packets_are_read_as_they_were_written() -> None:
    assert packets.read_lend(packets.lend(1, 2**40)) == (1, 2**40)
    growth, content = packets.read_data(packets.data(7, b"abc"))
    assert (growth, bytes(content)) == (7, b"abc")
    assert packets.read_taken(packets.taken(9)) == 9
    record = Record(EXITED, 0, 9, 1234)
    assert packets.read_exited(packets.exited(record)) == record
    assert packets.read_exited(packets.exited(None)) is None
    assert packets.read_text(packets.text(packets.FAILED, "naïve \ud800")) == "naïve ?"


@pytest.mark.parametrize(
    ("read", "packet"),
    [
        (packets.kind_of, b""),
        (packets.read_lend, b"\x01"),
        (packets.read_data, bytes([packets.DATA])),
        (packets.read_data, packets.data(0, bytes(packets.LARGEST + 1))),
        (packets.read_taken, packets.taken(1) + b"x"),
        (packets.read_exited, packets.exited(None) + b"x"),
    ],
)
def test_a_packet_of_the_wrong_size_is_refused(
    read: Callable[[bytes], object], packet: bytes
) -> None:
    with pytest.raises(ProtocolError):
        read(packet)


def test_a_text_is_cut() -> None:
    assert len(packets.read_text(bytes([packets.FAILED]) + b"x" * 10**6)) == packets.LONGEST


# -- bytes, and how much of them is under way


def test_much_data_passes_both_ways_within_windows(pool: WorkerPool) -> None:
    backend, channels = begin(pool)
    data = os.urandom(5_000_000)
    source = "export default (data) => [data, data.slice(1)]"
    result = run_code(source, execute={"args": [data]}, engine=backend).wait(60)
    assert result.status == "success", result.error
    assert list(map(bytes, result.result)) == [data, data[1:]]
    for sent, told in (
        (channels[0].down, channels[0].up),
        (channels[0].up, channels[0].down),
    ):
        assert max(map(len, sent)) <= packets.LARGEST + 16
        assert sum(1 for packet in told if packet[0] == packets.TAKEN) > 5


def test_a_reader_that_is_slow_holds_the_guest_up(pool: WorkerPool) -> None:
    """What is under way is a window, the packet that exceeds it, and what sockets hold."""
    backend, channels = begin(pool)
    go_on, reported = threading.Event(), threading.Event()

    def sink(value: Any) -> None:
        reported.set()
        assert go_on.wait(60)

    source = "for (let i = 0; i < 100; i++) report('x'.repeat(100_000)); export default 1"
    run = run_code(source, report=sink, engine=backend)
    assert reported.wait(60)

    def sent() -> int:
        return sum(map(len, list(channels[0].up)))

    before = -1
    while before != (before := sent()):
        threading.Event().wait(0.3)  # until it says no more, which has no event
    assert before < 3 * packets.WINDOW  # and what sockets hold
    go_on.set()
    assert run.wait(60).status == "success"
    assert sent() > 10_000_000


def test_the_memory_of_the_worker_is_known_here(pool: WorkerPool) -> None:
    backend, _ = begin(pool)
    source = "const a = new Uint8Array(20_000_000).fill(1); export default a.length"
    result = run_code(source, engine=backend).wait(60)
    assert (result.memory_used_bytes or 0) > 19_000_000
    result = run_code("const a = []; for (;;) a.push([a])", engine=backend).wait(60)
    assert result.status == "memory"


# -- loss


def test_a_silent_run_begins_again_with_another_worker(pool: WorkerPool) -> None:
    backend, channels = begin(pool, retries=1)
    called: list[int] = []
    source = "for (let i = 0; i < 3e7; i++); export default add(1)"
    run = run_code(source, globals={"add": lambda n: called.append(n) or 5}, engine=backend)
    assert until(lambda: any(packet[0] == packets.LENT for packet in channels[0].up))
    channels[0].lose("the machine is gone")
    result = run.wait(60)
    assert (result.status, result.result, called) == ("success", 5, [1])
    assert len(channels) == 2
    assert run.started


def test_a_run_that_has_called_a_bridge_is_not_begun_again(pool: WorkerPool) -> None:
    backend, channels = begin(pool, retries=5)
    called = threading.Event()
    run = run_code("called(); for (;;);", globals={"called": called.set}, engine=backend)
    assert called.wait(60)
    channels[0].lose("the machine is gone")
    result = run.wait(60)
    assert (result.status, error_of(result)) == ("error", ("WorkerLost", "the machine is gone"))
    assert len(channels) == 1


async def test_a_run_that_was_lent_something_to_await_is_not_begun_again(pool: WorkerPool) -> None:
    backend, channels = begin(pool, retries=5)
    begun = asyncio.Event()

    async def slow() -> int:
        begun.set()
        await asyncio.Event().wait()
        return 1

    run = run_code("export default await later", globals={"later": slow()}, engine=backend)
    await begun.wait()
    channels[0].lose("the machine is gone")
    assert error_of(await run)[0] == "WorkerLost"
    assert len(channels) == 1


def test_a_run_is_begun_again_no_more_often_than_that(pool: WorkerPool) -> None:
    backend, channels = begin(pool, retries=2)
    run = run_code("for (;;);", engine=backend)
    for attempt in range(3):
        assert until(partial(_has_begun, channels, attempt))
        channels[attempt].lose(f"loss {attempt}")
    assert error_of(run.wait(60)) == ("WorkerLost", "loss 2")


def test_what_came_before_the_loss_is_heard_first(pool: WorkerPool) -> None:
    """The loop is busy in a bridge while the result arrives and the channel breaks."""
    backend, channels = begin(pool)
    reported, go_on = threading.Event(), threading.Event()

    def sink(value: Any) -> None:
        reported.set()
        assert go_on.wait(60)

    run = run_code("report(1); export default 'done'", report=sink, engine=backend)
    assert reported.wait(60)
    assert until(lambda: b'"done"' in b"".join(list(channels[0].up)))
    channels[0].lose("the machine is gone")
    go_on.set()
    result = run.wait(60)
    assert (result.status, result.result) == ("success", "done")


def test_terminate_does_not_need_the_other_side(
    pool: WorkerPool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(distant, "KILL_PATIENCE", 0.05)
    backend, channels = begin(pool)
    run = run_code("report(1); for (;;);", report=lambda value: None, engine=backend)
    assert until(lambda: run.reports)
    channels[0].broken = True
    run.terminate("enough")
    result = run.wait(60)
    assert (result.status, error_of(result)[1]) == ("terminated", "enough")


def test_a_closed_relay_leaves_no_worker(pool: WorkerPool) -> None:
    backend, channels = begin(pool)
    run = run_code("report(1); for (;;);", report=lambda value: None, engine=backend)
    assert until(lambda: run.reports)
    (pid,) = pool.processes().workers
    channels[0].lose("the machine is gone")
    assert until(lambda: gone(pid))
    assert until(lambda: not pool.executing)
    assert error_of(run.wait(60))[0] == "WorkerLost"


def test_a_run_that_has_ended_leaves_no_worker(pool: WorkerPool) -> None:
    backend, _ = begin(pool)
    assert run_code("export default 1", engine=backend).wait(60).result == 1
    assert until(lambda: not pool.executing and not pool.processes().workers)


# -- the pool beside the relay


def test_a_spare_that_has_died_is_not_lent(pool: WorkerPool) -> None:
    backend, _ = begin(pool)
    pool.warm_up()
    assert until(lambda: pool.processes().spares)
    spare = pool.processes().spares[0]
    os.kill(spare, signal.SIGKILL)
    assert until(lambda: gone(spare))
    assert run_code("export default 1", engine=backend).wait(60).result == 1


def test_a_worker_that_is_killed_there_is_a_crash_here(pool: WorkerPool) -> None:
    backend, _ = begin(pool, retries=3)
    run = run_code("report(1); for (;;);", report=lambda value: None, engine=backend)
    assert until(lambda: run.reports)
    os.kill(pool.processes().workers[0], signal.SIGKILL)
    assert error_of(run.wait(60)) == ("SandboxCrash", "the worker was ended by SIGKILL")


def test_a_machine_without_a_filter_is_refused(
    pool: WorkerPool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(relay, "filters_system_calls", lambda: False)
    backend, channels = begin(pool, retries=3)
    name, message = error_of(run_code("export default 1", engine=backend).wait(60))
    assert (name, message[:24]) == ("EngineError", "no system-call filter on")
    assert len(channels) == 1


def test_a_pool_that_is_closed_says_so() -> None:
    pool = WorkerPool(Settings(spares=0))
    backend, _ = begin(pool)
    pool.close()
    result = run_code("export default 1", engine=backend).wait(60)
    assert error_of(result) == ("EngineError", "the engine is closed; make another one")


def test_runs_that_are_ended_there_are_terminated_here() -> None:
    pool = WorkerPool(Settings(spares=1))
    backend, _ = begin(pool, retries=3)
    run = run_code("report(1); for (;;);", report=lambda value: None, engine=backend)
    assert until(lambda: run.reports)
    pool.terminate_all("maintenance")
    result = run.wait(60)
    assert (result.status, error_of(result)[1]) == ("terminated", "maintenance")
    pool.close()


def test_who_waits_in_a_queue_there_learns_when_it_is_over() -> None:
    pool = WorkerPool(Settings(spares=1, concurrency=1))
    near, far = LoopThread().loop, LoopThread().loop
    first, second = Channel(pool, near, far), Channel(pool, near, far)
    lent = [threading.Event(), threading.Event()]
    first.worker.ask(1 << 30, lent[0].set)
    assert lent[0].wait(60)
    second.worker.ask(1 << 30, lent[1].set)
    assert until(lambda: pool.queued == 1)
    assert not lent[1].is_set()
    first.worker.close()
    assert lent[1].wait(60)
    second.worker.close()
    assert until(lambda: not pool.executing)
    pool.close()


def test_a_kill_ends_the_wait_in_a_queue_there() -> None:
    pool = WorkerPool(Settings(spares=1, concurrency=1))
    near, far = LoopThread().loop, LoopThread().loop
    first, second = Channel(pool, near, far), Channel(pool, near, far)
    over = threading.Event()
    first.worker.ask(1 << 30, lambda: None)
    assert until(lambda: pool.executing == 1)
    second.worker.ask(1 << 30, over.set)
    assert until(lambda: pool.queued == 1)
    second.worker.kill()
    assert until(lambda: pool.queued == 0)
    assert over.wait(60)
    first.worker.close()
    second.worker.close()
    pool.close()


# -- a hostile relay, and a hostile user


@pytest.mark.parametrize(
    "packet",
    [
        b"",
        b"\x00",
        b"\xff" * 40,
        bytes([packets.DATA]),
        bytes([packets.LEND]),
        bytes([packets.KILL]),
        packets.taken(2**32 - 1),
        bytes([packets.EXITED]) * 3,
        packets.data(0, bytes(packets.LARGEST + 1)),
    ],
    ids=lambda packet: packet[:4].hex() or "empty",
)
def test_a_relay_that_says_nonsense_ends_the_run(pool: WorkerPool, packet: bytes) -> None:
    backend, channels = begin(pool, retries=3)
    run = run_code("for (;;);", engine=backend)
    assert until(lambda: channels and channels[0].up)
    backend._near.call_soon_threadsafe(channels[0].worker.received, packet)
    name, message = error_of(run.wait(60))
    assert name == "WorkerLost"
    assert "broke the protocol" in message
    assert len(channels) == 1


def test_a_relay_that_floods_is_cut_off() -> None:
    """More than a window that the conversation did not take."""
    loop = LoopThread().loop
    worker = DistantWorker(loop, lambda packet: None, lambda worker: None)
    ends: list[Any] = []
    worker.when_exited(ends.append)
    flood = packets.data(0, bytes(packets.LARGEST))
    for _ in range(40):
        loop.call_soon_threadsafe(worker.received, flood)
    assert until(lambda: ends)
    assert "were not taken yet" in ends[0].outcome.error.message
    worker.close()


@pytest.mark.parametrize(
    "sent",
    [
        [packets.lend(1, 1 << 30)] * 2,
        [packets.exited(None)],
        [packets.taken(1)],
        [packets.data(0, bytes(packets.LARGEST))] * 6,
    ],
    ids=["two workers", "an exit", "taken too much", "too much data"],
)
async def test_a_relay_refuses_what_makes_no_sense(pool: WorkerPool, sent: list[bytes]) -> None:
    taking = Relay(pool, asyncio.get_running_loop(), lambda packet: None)
    for packet in sent[:-1]:
        taking.received(packet)
    with pytest.raises(ProtocolError):
        taking.received(sent[-1])
    taking.close()
    assert not pool.executing
