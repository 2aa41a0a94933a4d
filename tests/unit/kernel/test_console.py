"""A cell's output: in order, nothing lost, few messages, and within the server's limits."""

from __future__ import annotations

import asyncio
import io
import sys
import threading
import time

from sandbox_kernel.kernel.console import INTERVAL, CellStream, Console, Meter
from sandbox_kernel.kernel.history import History
from tests.waiting import eventually


class Sink:
    def __init__(self) -> None:
        self.messages: list[tuple[str, str]] = []
        self.console = Console(self._send, asyncio.get_running_loop())

    def _send(self, stream: str, text: str) -> None:
        self.messages.append((stream, text))

    def text(self, stream: str) -> str:
        return "".join(text for name, text in self.messages if name == stream)


async def test_a_flood_becomes_few_messages_and_loses_nothing() -> None:
    sink = Sink()
    for number in range(900):
        sink.console.write("stdout", f"line {number}\n")
    await sink.console.drain()
    assert sink.text("stdout") == "".join(f"line {number}\n" for number in range(900))
    assert len(sink.messages) < 50


async def test_output_that_is_held_back_comes_when_something_was_shown_or_at_the_end() -> None:
    sink = Sink()
    sink.console.hold()
    sink.console.write("stdout", "first\n")
    await asyncio.sleep(2 * INTERVAL)
    assert sink.messages == []
    sink.console.flush()
    assert sink.messages == [("stdout", "first\n")]
    sink.console.hold()
    sink.console.write("stdout", "second\n")
    await sink.console.drain()
    assert sink.text("stdout") == "first\nsecond\n"


async def test_streams_keep_their_order() -> None:
    sink = Sink()
    for number in range(6):
        sink.console.write("stderr" if number % 3 == 0 else "stdout", str(number))
    await sink.console.drain()
    assert "".join(text for _, text in sink.messages) == "012345"
    assert [name for name, _ in sink.messages] == ["stderr", "stdout", "stderr", "stdout"]


async def test_output_is_sent_while_the_cell_runs() -> None:
    sink = Sink()
    sink.console.write("stdout", "first\n")
    assert sink.messages == [("stdout", "first\n")]
    sink.console.write("stdout", "second")
    assert len(sink.messages) == 1
    assert await eventually(lambda: sink.text("stdout") == "first\nsecond")


async def test_a_loop_that_is_blocked_still_prints() -> None:
    sink = Sink()
    for word in ("a\n", "b\n", "c\n"):
        sink.console.write("stdout", word)
        time.sleep(0.04)
    assert sink.text("stdout") == "a\nb\nc\n"


async def test_threads_may_write() -> None:
    sink = Sink()
    sink.console.write("stdout", "start\n")
    threads = [
        threading.Thread(target=lambda: [sink.console.write("stdout", "x\n") for _ in range(200)])
        for _ in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        await asyncio.to_thread(thread.join)
    await sink.console.drain()
    assert sink.text("stdout").count("x\n") == 800


def test_the_meter_never_lets_more_through_than_the_server_does() -> None:
    meter, now, sent = Meter(), 0.0, []
    for _ in range(60):
        while pause := meter.wait_for(500_000, now):
            now += pause
        meter.count(500_000, now)
        sent.append(now)
    for start in sent:
        assert sum(500_000 for at in sent if start <= at < start + 3) <= 3_000_000


async def test_an_interrupt_cuts_a_flood_short_and_says_so() -> None:
    sink = Sink()
    for _ in range(100):
        sink.console.write("stdout", "x" * 99_999 + "\n")
    draining = asyncio.ensure_future(sink.console.drain())
    assert await eventually(lambda: sink.messages)
    assert not draining.done()
    sink.console.cut()
    await asyncio.wait_for(draining, 5)
    assert "more lines, not shown because the cell was interrupted" in sink.messages[-1][1]


async def test_what_a_bridge_prints_goes_to_its_cell_and_is_cleaned() -> None:
    sink = Sink()
    fallback = io.StringIO()
    stream = CellStream("stderr", fallback, lambda: sink.console)
    print("a\x1b[2Jb", file=stream, flush=True)
    await sink.console.drain()
    assert sink.text("stderr") == "a\\x1B[2Jb\n"
    assert fallback.getvalue() == ""


def test_what_is_printed_outside_of_cells_goes_where_it_always_went() -> None:
    fallback = io.StringIO()
    print("x", file=CellStream("stdout", fallback, lambda: None))
    assert fallback.getvalue() == "x\n"
    assert sys.stdout is not fallback


def test_history_answers_tail_range_and_search() -> None:
    history = History()
    for number, source in enumerate(["a = 1", "b = 2", "a = 1", " "], start=1):
        history.add(number, source)
    tail = history.answer({"hist_access_type": "tail", "n": 2})
    assert tail == [(0, 2, "b = 2"), (0, 3, "a = 1")]
    assert history.answer({"hist_access_type": "tail", "n": 0}) == []
    assert history.answer({"hist_access_type": "range", "start": 1, "stop": 2}) == [(0, 1, "a = 1")]
    assert history.answer({"hist_access_type": "range", "start": -1}) == [(0, 3, "a = 1")]
    found = history.answer({"hist_access_type": "search", "pattern": "a*", "unique": True})
    assert found == [(0, 3, "a = 1")]
    both = history.answer({"hist_access_type": "tail", "n": 1, "output": True})
    assert both == [(0, 3, ("a = 1", None))]
