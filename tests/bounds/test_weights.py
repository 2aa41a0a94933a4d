"""What a message is charged with covers what Python keeps of it, whatever it is made of."""

from __future__ import annotations

import asyncio
import threading
import tracemalloc
from collections.abc import Iterator
from contextlib import contextmanager
from typing import NamedTuple

import pytest

from sandbox_kernel.engine.guests import Guests
from sandbox_kernel.run import run_code
from sandbox_kernel.wire.messages import REPORT
from sandbox_kernel.wire.slices import finish
from sandbox_kernel.wire.values import LARGE, decode, decode_in_steps, weight
from tests.bounds.hostile_messages import SHAPES, Message
from tests.charges import Bill
from tests.hostile_worker.fake import LIMITS, Impostor, Peer, frame, ready
from tests.waiting import until

COUNT = 2_800  # parts; Python's dicts and sets have just grown at this size
KEPT, PEAK = 1.5, 2.0  # times what is charged, and times the cap
OUTPUT = 2 << 20  # bytes; `message_bytes` is half of it, as it is by default
SLACK = 8 << 10  # bytes that a message may take whatever is in it
OURS = 400 << 10  # bytes that a conversation takes whatever it hears


ENDS = (
    "safety cap: more than 2 MiB of output",
    "the worker broke the protocol: it lent a promise twice",
)


@contextmanager
def traced() -> Iterator[None]:
    tracemalloc.start()
    try:
        yield
    finally:
        tracemalloc.stop()


@pytest.fixture(scope="module")
def loop() -> Iterator[asyncio.AbstractEventLoop]:
    loop = asyncio.new_event_loop()
    yield loop
    loop.close()


class Cost(NamedTuple):
    charged: int
    kept: int


def cost_of(message: Message, loop: asyncio.AbstractEventLoop, *, ordered: bool) -> Cost:
    """Of decoding it as a conversation does."""
    bill, guests = Bill(), Guests(loop, lambda *call: None)
    attachments = [memoryview(each) for each in message.attachments]
    with traced():
        if len(message.text) > LARGE:
            bill.charge(weight(b"", attachments))
            steps = decode_in_steps(message.text, attachments, guests, bill.charge, ordered=ordered)
            value = finish(steps)
        else:
            bill.charge(weight(message.text, attachments))
            value = decode(message.text, attachments, guests, bill.charge, ordered=ordered)
        kept, _ = tracemalloc.get_traced_memory()
    del value
    return Cost(bill.total, kept)


@pytest.mark.parametrize("shape", SHAPES)
def test_no_value_keeps_more_than_it_was_charged_with(
    loop: asyncio.AbstractEventLoop, shape: str
) -> None:
    for ordered in (False, True) if "Set" in shape else (False,):
        found = cost_of(SHAPES[shape](COUNT), loop, ordered=ordered)
        assert found.kept <= KEPT * found.charged + SLACK, found


def long_report(shape: str, part: float) -> bytes:
    """A frame that takes so much of the cap, or nearly as much as a message may have."""
    text, attachments = SHAPES[shape](1000)
    size = len(text) + sum(map(len, attachments)) + 4 * len(attachments)
    most = OUTPUT * min(0.35 / size, part / weight(text, attachments))
    text, attachments = SHAPES[shape](max(1000, int(1000 * most)))
    return frame(REPORT, text, 0, 0, *attachments)


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("part", [0.3, 0.9])
def test_the_host_needs_no_more_than_twice_the_cap_until_it_is_reached(
    shape: str, part: float
) -> None:
    said = long_report(shape, part)
    limits = LIMITS._replace(output_bytes=OUTPUT, message_bytes=OUTPUT // 2)
    over = threading.Event()

    def script(peer: Peer) -> None:
        peer.send(ready())
        while not over.is_set():
            peer.socket.sendall(said)

    with traced():
        run = run_code("", engine=Impostor(script, limits), report=lambda value: None)
        result = run.wait(60)
        over.set()
        assert result.error is not None
        assert result.error.message in ENDS
        assert until(lambda: tracemalloc.get_traced_memory()[0] <= KEPT * OUTPUT + OURS)
        assert tracemalloc.get_traced_memory()[1] <= PEAK * OUTPUT + OURS
