"""A worker that sends as much as it can, as fast as it can: the host's memory and its loop hold out."""

from __future__ import annotations

import asyncio
import resource
import threading
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


def peak() -> int:
    """The host's largest size so far, in bytes."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


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
def test_what_would_swell_when_decoded_is_not_decoded(bomb: str) -> None:
    limits = LIMITS._replace(output_bytes=32 * 2**20)
    before = peak()
    result = face(ready(), DENSE[bomb], finished(), limits=limits)
    assert result.status == "terminated"
    assert result.error is not None
    cap = spell_size(limits.output_bytes)
    assert result.error.message == f"safety cap: more than {cap} of output"
    assert result.reports == []
    assert peak() - before < 128 * 2**20


def test_a_million_empty_attachments() -> None:
    count = 1_000_000
    bomb = HEAD.pack(16 + 4 * count + 2, REPORT | count << 8, 0, 0, 2) + bytes(4 * count) + b"P1"
    before = peak()
    result = face(ready(), bomb, finished())
    assert result.status == "error"
    assert peak() - before < 64 * 2**20


@pytest.mark.parametrize("kind", ["report", "log"])
def test_small_messages_without_end(kind: str) -> None:
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


def test_calls_without_end() -> None:
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


def end_of_one_who_never_reads(megabyte: Any, *calls: bytes) -> None:
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


def test_answers_that_nobody_reads() -> None:
    """It asks for a megabyte again and again and never takes one."""
    given = 0

    def megabyte() -> bytes:
        nonlocal given
        given += 1
        return bytes(1 << 20)

    before = peak()
    end_of_one_who_never_reads(megabyte, value(CALL, [], 1, 0) * 10_000)
    assert given < 100
    assert peak() - before < 200 * 2**20


def test_asynchronous_answers_that_nobody_reads() -> None:
    """They gather on their way, but not beyond the cap."""
    given = 0

    async def megabyte(number: int) -> str:
        nonlocal given
        await asyncio.sleep(0.002 * number)
        given += 1
        return "x" * (1 << 20)

    end_of_one_who_never_reads(megabyte, *(value(CALL, [n], n + 1, 0) for n in range(300)))
    assert given < 100


def test_a_frame_announced_and_never_sent() -> None:
    """Room is made as bytes come, not as they are promised."""

    async def wait_and_terminate() -> Any:
        def script(peer: Peer) -> None:
            peer.send(ready(), HEAD.pack(LIMITS.message_bytes, REPORT, 0, 0, 0)[:19])

        run = run_code("", engine=Impostor(script), report=lambda value: None)
        await asyncio.sleep(0.1)
        run.terminate("enough")
        return await run

    before = peak()
    result = asyncio.run(wait_and_terminate())
    assert (result.status, result.error.message) == ("terminated", "enough")
    assert peak() - before < LIMITS.message_bytes


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
def test_a_worker_that_says_nothing(stage: str) -> None:
    async def silent() -> Any:
        script = (lambda peer: peer.send(ready())) if stage == "after_ready" else lambda peer: None
        run = run_code("", engine=Impostor(script))
        await asyncio.sleep(0.05)
        run.terminate()
        return await run

    assert asyncio.run(silent()).status == "terminated"


COLLIDING = [f'["b","{k * (2**61 - 1):x}"]' for k in range(1, 30_000)]  # Python hashes all to 0


def test_keys_chosen_to_collide() -> None:
    """Quadratic work for the host, if it hashed bigints as Python does."""
    keys = ",".join(f"{key},0" for key in COLLIDING)
    table = frame(FINISHED, f'T[[0],["m",{keys}]]')
    result = face(ready(), table)
    assert isinstance(result.result, JSMap)
    assert len(result.result) == len(COLLIDING)
    members = ",".join(COLLIDING)
    result = face(ready(), frame(FINISHED, f'T[[0],["s",{members}]]'))
    assert isinstance(result.result, JSSet)
    assert len(result.result) == len(COLLIDING)
    assert (2**61 - 1) not in result.result  # a number, not the bigint
