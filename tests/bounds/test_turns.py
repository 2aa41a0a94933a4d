"""However much a message makes the host do, its loop goes on in between: counted in turns, not seconds.

Where the clock seems to jump at every look at it, each step that could end a turn does.
"""

from __future__ import annotations

import asyncio
import itertools
import json
import struct
from collections import Counter
from collections.abc import Callable
from typing import Any

import pytest

from sandbox_kernel.engine import line
from sandbox_kernel.run import run_code
from sandbox_kernel.wire import slices
from sandbox_kernel.wire.messages import CALL, FINISHED, REPORT, SAID
from sandbox_kernel.wire.slices import finish, parse
from tests.charges import anything
from tests.hostile_worker.fake import LIMITS, Impostor, finished, frame, ready, value
from tests.waiting import eventually

MANY = 5_000
AT_ONCE = 600  # promises or calls that may end in one turn


@pytest.fixture
def no_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whenever the line looks at its clock, its time for this turn is over."""
    monkeypatch.setattr(line, "monotonic", itertools.count().__next__)


class Turns:
    """Counts the turns of the loop that it is made on."""

    def __init__(self) -> None:
        self.count = 0
        self._loop = asyncio.get_running_loop()
        self._loop.call_soon(self._next)

    def _next(self) -> None:
        self.count += 1
        self._loop.call_soon(self._next)


async def hear(script: bytes, wait_for: Callable[[], Any], **options: Any) -> None:
    engine = Impostor(
        lambda peer: peer.send(ready(), script), LIMITS._replace(calls_in_flight=MANY)
    )
    run = run_code("", engine=engine, **options)
    assert await eventually(wait_for)
    run.terminate()
    await run


def turns_of_reports(script: bytes, count: int) -> list[int]:
    """In which turn each was handed over."""
    seen: list[int] = []

    async def main() -> None:
        turns = Turns()
        await hear(script, lambda: len(seen) == count, report=lambda _: seen.append(turns.count))

    asyncio.run(main())
    return seen


@pytest.mark.usefixtures("no_time")
def test_reports_and_logs_of_one_message_leave_the_loop_to_others() -> None:
    """Each may be dear: a notebook shows what is logged."""
    assert len(set(turns_of_reports(frame(SAID, "RP1\n" * 100), 100))) >= 99


@pytest.mark.usefixtures("no_time")
def test_messages_that_arrive_together_leave_the_loop_to_others() -> None:
    assert len(set(turns_of_reports(frame(REPORT, "P1") * 100, 100))) >= 99


BINARY = {
    "half_floats": (b'T[[0],["x","Float16Array",0]]', bytes(1 << 20)),
    "floats": (b'C140000[["a",[131072],1],["f",0]]', struct.pack("<d", 0.5) * (1 << 17)),
}


@pytest.mark.usefixtures("no_time")
@pytest.mark.parametrize("kind", BINARY)
def test_binary_data_is_decoded_in_many_turns(kind: str) -> None:
    text, data = BINARY[kind]
    script = frame(REPORT, "P1") + frame(REPORT, text, 0, 0, data)
    before, after = turns_of_reports(script, 2)
    assert after - before >= 32


# Few characters, from which the host makes 40,000 rows.
ROWS = b'C960008[["a",[40000],1],["o",["a","b"],40000,2],["u",40000],["u",40000]]'


@pytest.mark.usefixtures("no_time")
@pytest.mark.parametrize(
    "script", [frame(REPORT, ROWS), frame(SAID, b"R" + ROWS + b"\n")], ids=["value", "line"]
)
def test_a_short_text_that_makes_a_lot_is_decoded_in_many_turns(script: bytes) -> None:
    before, after = turns_of_reports(frame(REPORT, "P1") + script, 2)
    assert after - before >= 32


def most_in_one_turn(seen: list[int]) -> int:
    assert len(seen) == MANY
    return max(Counter(seen).values())


def test_promises_of_a_run_that_ends_are_failed_some_at_a_time() -> None:
    failed: list[int] = []

    async def main() -> None:
        turns = Turns()

        def watch(promises: list[asyncio.Future[Any]]) -> None:
            for promise in promises:
                promise.add_done_callback(lambda _: failed.append(turns.count))

        nodes = ",".join(f'["p",{at}]' for at in range(MANY))
        items = ",".join(f"[{at + 1}]" for at in range(MANY))
        lent = frame(REPORT, f'T[[0],["a",{items}],{nodes}]')
        engine = Impostor(lambda peer: peer.send(ready(), lent, finished()))
        assert (await run_code("", engine=engine, report=watch)).status == "success"
        assert await eventually(lambda: len(failed) == MANY)

    asyncio.run(main())
    assert most_in_one_turn(failed) <= AT_ONCE


def test_calls_of_a_run_that_ends_are_cancelled_some_at_a_time() -> None:
    begun: list[int] = []
    cancelled: list[int] = []

    async def main() -> None:
        turns = Turns()

        async def forever() -> None:
            begun.append(1)
            try:
                await asyncio.Event().wait()
            finally:
                cancelled.append(turns.count)

        calls = b"".join(value(CALL, [], at + 1, 0) for at in range(MANY))
        await hear(calls, lambda: len(begun) == MANY, globals={"forever": forever})
        assert await eventually(lambda: len(cancelled) == MANY)

    asyncio.run(main())
    assert most_in_one_turn(cancelled) <= AT_ONCE


NESTS = {
    "lists": ("[", "]"),
    "objects": ('{"":', "}"),
    "lists_behind_a_list": ("[[],", "]"),
    "lists_behind_values_alike": ("[1,1,1,1,1,1,1,1,1,", "]"),
    "objects_behind_values_alike": ('{"a":1,"b":1,"c":1,"d":1,"e":1,"f":1,"g":1,"h":1,"i":', "}"),
}


@pytest.mark.parametrize("nest", NESTS)
def test_text_made_for_looks_in_vain_is_read_in_linear_time(
    nest: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Counted in characters that Python's scanner was given."""
    opening, closing = NESTS[nest]
    one = opening * 900 + "1" + closing * 900
    text = f"[{','.join([one] * (1 + (1 << 17) // len(one)))}]"
    looked_at = 0
    scan = slices._value_at

    def counted(given: str, at: int) -> tuple[Any, int]:
        nonlocal looked_at
        try:
            found, end = scan(given, at)
        except (ValueError, IndexError):
            looked_at += len(given) - at
            raise
        looked_at += end - at
        return found, end

    monkeypatch.setattr(slices, "_value_at", counted)
    assert finish(parse(text.encode(), anything)) == json.loads(text)
    assert looked_at <= 120 * len(text)


def test_a_finished_run_has_no_turn_left_to_do() -> None:
    """What is behind the result is not even looked at."""

    async def main() -> list[Any]:
        script = frame(FINISHED, "P1") + frame(REPORT, "P1") * 100
        engine = Impostor(lambda peer: peer.send(ready(), script))
        return list((await run_code("", engine=engine, report=lambda _: None)).reports)

    assert asyncio.run(main()) == []
