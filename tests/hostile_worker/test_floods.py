"""A worker that sends as much as it can, as fast as it can: the host's memory and its loop hold out."""

from __future__ import annotations

import asyncio
import threading
import time
import tracemalloc
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from sandbox_kernel import JSMap, JSSet
from sandbox_kernel.run import run_code
from sandbox_kernel.sizes import spell_size
from sandbox_kernel.wire.frame import HEAD
from sandbox_kernel.wire.messages import CALL, FINISHED, LOG, REPORT
from tests.hostile_worker.fake import (
    LIMITS,
    Impostor,
    Peer,
    face,
    finished,
    frame,
    play,
    ready,
    value,
)


@contextmanager
def at_most(size: int) -> Iterator[None]:
    """Python may not allocate more than this at once; what the attacker's thread sends counts too.

    Not the process's peak: after a test that needed more, that could no longer grow.
    """
    tracemalloc.start()
    try:
        yield
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < size


def many(item: str, count: int) -> str:
    return ",".join([item] * count)


DENSE = {
    "empty_lists": frame(REPORT, "P[" + many("[]", 5_000_000) + "]"),
    "empty_objects": frame(REPORT, "P[" + many("{}", 5_000_000) + "]"),
    "nodes": frame(REPORT, "T[[0]," + many('["a"]', 2_500_000) + "]"),
    "text_that_needs_four_bytes_a_letter": frame(REPORT, 'P"' + "x" * (15 << 20) + '\U0001f600"'),
    "small_numbers": frame(REPORT, "P[" + many("1", 8_000_000) + "]"),
}


@pytest.mark.parametrize("bomb", DENSE)
def test_a_message_that_would_swell_when_decoded_is_refused(bomb: str) -> None:
    limits = LIMITS._replace(output_bytes=32 * 2**20)
    with at_most(128 * 2**20):
        result = face(ready(), DENSE[bomb], finished(), limits=limits)
    assert result.status == "terminated"
    assert result.error is not None
    cap = spell_size(limits.output_bytes)
    assert result.error.message == f"safety cap: more than {cap} of output"
    assert result.reports == []


def test_a_million_empty_attachments_are_refused() -> None:
    count = 1_000_000
    bomb = HEAD.pack(16 + 4 * count + 2, REPORT | count << 8, 0, 0, 2) + bytes(4 * count) + b"P1"
    with at_most(64 * 2**20):
        result = face(ready(), bomb, finished())
    assert (result.status, result.error and result.error.name) == ("error", "SandboxCrash")
    assert result.reports == []


@pytest.mark.parametrize("kind", ["report", "log"])
def test_endless_small_messages_hit_the_output_cap(kind: str) -> None:
    said = value(REPORT, 1) if kind == "report" else value(LOG, ["log", "log", 0, 0, []])

    def script(peer: Peer) -> None:
        peer.send(ready())
        while True:
            peer.send(said * 1000)

    limits = LIMITS._replace(output_bytes=8 * 2**20)
    result = play(script, limits)
    assert result.status == "terminated"
    assert result.error is not None
    cap = spell_size(limits.output_bytes)
    assert result.error.message == f"safety cap: more than {cap} of output"
    assert 0 < len(result.reports) + len(result.logs) <= limits.output_bytes / 128


def test_endless_calls_hit_the_cap_of_calls_in_flight() -> None:
    """Each would be a task of the host's loop."""
    running = 0

    async def forever() -> None:
        nonlocal running
        running += 1
        await asyncio.Event().wait()

    def script(peer: Peer) -> None:
        peer.send(ready())
        while True:
            peer.send(value(CALL, [], 1, 0) * 100)

    result = play(script, globals={"forever": forever})
    assert result.status == "terminated"
    assert result.error is not None
    assert result.error.message == "safety cap: more than 1000 calls in flight"
    assert running <= 1001


def run_against_a_peer_that_never_reads(megabyte: Any, *calls: bytes) -> None:
    """It makes these calls of `megabyte` and takes no answer: the cap ends it."""

    def never_reads(peer: Peer) -> None:
        peer.send(ready(), *calls)
        hung_up.wait(60)

    hung_up = threading.Event()
    limits = LIMITS._replace(output_bytes=32 * 2**20)
    result = play(never_reads, limits, globals={"megabyte": megabyte})
    assert result.status == "terminated"
    assert result.error is not None
    assert "that the guest left unread" in result.error.message
    hung_up.set()


def test_unread_answers_hit_the_output_cap() -> None:
    """It asks for a megabyte again and again and never takes one."""
    given = 0

    def megabyte() -> bytes:
        nonlocal given
        given += 1
        return bytes(1 << 20)

    with at_most(200 * 2**20):
        run_against_a_peer_that_never_reads(megabyte, value(CALL, [], 1, 0) * 10_000)
    assert given < 100


def test_unread_asynchronous_answers_hit_the_output_cap() -> None:
    """They gather on their way, but not beyond the cap."""
    given = 0

    async def megabyte(number: int) -> str:
        nonlocal given
        await asyncio.sleep(0.002 * number)
        given += 1
        return "x" * (1 << 20)

    run_against_a_peer_that_never_reads(megabyte, *(value(CALL, [n], n + 1, 0) for n in range(300)))
    assert given < 100


def test_a_frame_that_is_announced_but_never_sent_takes_no_memory() -> None:
    """Room is made as bytes come, not as they are promised."""

    announced = threading.Event()

    def script(peer: Peer) -> None:
        peer.send(ready(), HEAD.pack(LIMITS.message_bytes, REPORT, 0, 0, 0))
        peer.until_read()
        announced.set()

    with at_most(LIMITS.message_bytes // 2):
        run = run_code("", engine=Impostor(script), report=lambda value: None)
        assert announced.wait(20)
        run.terminate("enough")
        result = run.wait(20)
    assert (result.status, result.error and result.error.message) == ("terminated", "enough")


def test_a_loop_flooded_with_messages_still_serves_others() -> None:
    """The host's own code on the same loop gets its turns, and can stop the run."""

    async def flooded() -> Any:
        def script(peer: Peer) -> None:
            peer.send(ready())
            while True:
                peer.send(value(REPORT, {"a": [1, 2, 3]}) * 1000)

        limits = LIMITS._replace(output_bytes=2**40)
        run = run_code("", engine=Impostor(script, limits), report=lambda value: None)
        while len(run.reports) < 1000:
            await asyncio.sleep(0)
        run.terminate("enough")
        return await run

    result = asyncio.run(flooded())
    assert (result.status, result.error.message) == ("terminated", "enough")


@pytest.mark.parametrize("stage", ["before_ready", "after_ready"])
def test_a_silent_worker_can_be_terminated(stage: str) -> None:
    has_its_job = threading.Event()

    def script(peer: Peer) -> None:
        if stage == "after_ready":
            peer.send(ready())
        has_its_job.set()

    run = run_code("", engine=Impostor(script))
    assert has_its_job.wait(20)
    run.terminate()
    assert run.wait(20).status == "terminated"


def keys_that_are_multiples_of(factor: int) -> list[str]:
    return [f'["b","{k * factor:x}"]' for k in range(1, 30_000)]


COLLIDING = keys_that_are_multiples_of(2**61 - 1)  # Python's hash of each is 0
HARMLESS = keys_that_are_multiples_of(2**61)


def cost_of_keys(keys: list[str]) -> float:
    """Processor seconds that a map and a set with these keys take the host."""
    began = time.process_time()
    entries = ",".join(f"{key},0" for key in keys)
    result = face(ready(), frame(FINISHED, f'T[[0],["m",{entries}]]'))
    assert isinstance(result.result, JSMap)
    assert len(result.result) == len(keys)
    result = face(ready(), frame(FINISHED, f'T[[0],["s",{",".join(keys)}]]'))
    assert isinstance(result.result, JSSet)
    assert len(result.result) == len(keys)
    assert (2**61 - 1) not in result.result  # a number, not the bigint
    return time.process_time() - began


def test_keys_chosen_to_collide_cost_no_more_than_others() -> None:
    """If bigints were hashed as Python does, they would cost some hundred times as much."""
    assert cost_of_keys(COLLIDING) < 20 * cost_of_keys(HARMLESS)
