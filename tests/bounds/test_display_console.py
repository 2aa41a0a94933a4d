"""A cell's output waits in bounded room, in order, and what is left out is told."""

from __future__ import annotations

import asyncio
import io

from sandbox_kernel.kernel.backlog import MOST_IN_ALL, MOST_WAITING, Backlog
from sandbox_kernel.kernel.console import CellStream, Console
from tests.waiting import eventually

MEGA = 1_000_000


def taken(backlog: Backlog) -> list[tuple[str, str]]:
    messages: list[tuple[str, str]] = []
    while backlog:
        messages.append(backlog.first())
        backlog.drop()
    return messages


def test_text_comes_out_in_order_and_in_pieces() -> None:
    backlog = Backlog()
    whole = "".join(f"{at}\n" for at in range(200_000))
    backlog.add("stdout", "first\n")
    backlog.add("stdout", whole)
    backlog.add("stderr", "error\n")
    backlog.add("stdout", "last\n")
    messages = taken(backlog)
    assert "".join(text for _, text in messages) == f"first\n{whole}error\nlast\n"
    assert max(len(text) for _, text in messages) <= 250_000
    assert [stream for stream, _ in messages][-2:] == ["stderr", "stdout"]


def test_a_message_stays_the_first_until_it_is_sent() -> None:
    backlog = Backlog()
    backlog.add("stdout", "a")
    first = backlog.first()
    backlog.add("stdout", "b")
    assert backlog.first() == first == ("stdout", "a")
    backlog.drop()
    assert backlog.first() == ("stdout", "b")


def test_only_so_much_waits_and_the_rest_is_told() -> None:
    backlog = Backlog()
    for _ in range(100):
        backlog.add("stdout", "x" * MEGA)
    texts = [text for _, text in taken(backlog)]
    assert sum(map(len, texts)) <= MOST_WAITING + 100
    assert texts[-1] == "\n… 92.0 MB more output, not shown\n"


def test_a_gap_is_told_where_it_is() -> None:
    backlog = Backlog()
    backlog.add("stdout", "x" * (MOST_WAITING + 1_200_000))
    while len(taken_text := backlog.first()[1]) == 250_000 and backlog._waiting > MEGA:
        backlog.drop()
    assert taken_text
    backlog.add("stdout", "after\n")
    texts = [text for _, text in taken(backlog)]
    assert texts[-2:] == ["\n… 1.2 MB more output, not shown\n", "after\n"]


def test_a_cell_has_only_so_much_output_in_all() -> None:
    backlog, sent = Backlog(), 0
    for _ in range(2 * MOST_IN_ALL // MEGA):
        backlog.add("stdout", "x" * MEGA)
        sent += sum(len(text) for _, text in taken(backlog))
    assert sent <= MOST_IN_ALL + 10_000


async def test_a_flood_that_is_interrupted_ends_at_once() -> None:
    messages: list[tuple[str, str]] = []
    console = Console(lambda *message: messages.append(message), asyncio.get_running_loop())
    for _ in range(100):
        console.write("stdout", "x" * 999_999 + "\n")
    draining = asyncio.ensure_future(console.drain())
    assert await eventually(lambda: messages)
    console.cut()
    await asyncio.wait_for(draining, 5)
    assert "not shown because the cell was interrupted" in messages[-1][1]
    assert sum(len(text) for _, text in messages) < 3 * MEGA


async def test_what_one_print_of_a_bridge_shows_is_bounded() -> None:
    messages: list[str] = []
    console = Console(lambda _, text: messages.append(text), asyncio.get_running_loop())
    stream = CellStream("stdout", io.StringIO(), lambda: console)
    stream.write("\x1b" * 10 * MEGA)
    await console.drain()
    shown = "".join(messages)
    assert len(shown) <= 2 * MEGA + 50
    assert shown.endswith(" MB more\n")
