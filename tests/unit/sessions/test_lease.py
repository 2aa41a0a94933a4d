"""Leases: one at a time in a session, in threads, tasks and processes; deleting ends what runs."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from sandbox_kernel.sessions import Workspaces
from tests.waiting import eventually, until


@pytest.fixture
def workspaces(tmp_path: Path) -> Iterator[Workspaces]:
    found = Workspaces(tmp_path / "root")
    yield found
    found.close()


# ---------------------------------------------------------------------------- waiting


async def test_tasks_take_turns_in_the_order_in_which_they_came(workspaces: Workspaces) -> None:
    order: list[str] = []

    async def use(name: str) -> None:
        async with workspaces.lease("s1") as lease:
            order.append(f"{name} begins")
            await asyncio.sleep(0)
            lease.directory.write(name, b"")
            order.append(f"{name} ends")

    await asyncio.gather(*(use(name) for name in "abc"))
    assert order == [f"{name} {what}" for name in "abc" for what in ("begins", "ends")]
    assert workspaces.open("s1").names() == ["a", "b", "c"]


async def test_sessions_do_not_wait_for_each_other(workspaces: Workspaces) -> None:
    async with workspaces.lease("s1"), workspaces.lease("s2"), workspaces.lease("s3") as third:
        assert third.directory.names() == []


def test_threads_and_tasks_share_one_line(workspaces: Workspaces) -> None:
    inside, most, done = 0, 0, 0
    lock = threading.Lock()

    def enter(change: int) -> None:
        nonlocal inside, most
        with lock:
            inside += change
            most = max(most, inside)

    def in_a_thread() -> None:
        nonlocal done
        for _ in range(20):
            with workspaces.lease("s1") as lease:
                enter(1)
                lease.directory.names()
                enter(-1)
                done += 1

    async def in_a_task() -> None:
        nonlocal done
        for _ in range(20):
            async with workspaces.lease("s1"):
                enter(1)
                await asyncio.sleep(0)
                enter(-1)
                done += 1

    async def tasks() -> None:
        await asyncio.gather(in_a_task(), in_a_task())

    threads = [threading.Thread(target=in_a_thread) for _ in range(3)]
    threads.append(threading.Thread(target=lambda: asyncio.run(tasks())))
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert (most, done) == (1, 100)


async def test_whoever_stops_waiting_leaves_the_line(workspaces: Workspaces) -> None:
    async def use(reached: asyncio.Event, leave: asyncio.Event) -> None:
        async with workspaces.lease("s1"):
            reached.set()
            await leave.wait()

    events = [asyncio.Event() for _ in range(6)]
    first, second, third = (
        asyncio.create_task(use(*events[2 * number : 2 * number + 2])) for number in range(3)
    )
    await events[0].wait()
    second.cancel()
    with pytest.raises(asyncio.CancelledError):
        await second
    events[1].set()
    await events[4].wait()  # the third one's turn
    third.cancel()
    with pytest.raises(asyncio.CancelledError):
        await third
    await first
    async with workspaces.lease("s1"):
        assert not events[2].is_set()


async def test_a_turn_that_comes_as_its_waiter_is_cancelled_is_passed_on(
    workspaces: Workspaces,
) -> None:
    for _ in range(50):
        holder = workspaces.lease("s1")
        await holder.__aenter__()
        waiting = asyncio.create_task(workspaces.lease("s1").__aenter__())
        await asyncio.sleep(0)
        holder.__exit__()
        waiting.cancel()
        with pytest.raises(asyncio.CancelledError):
            await waiting
        async with asyncio.timeout(20):
            async with workspaces.lease("s1"):
                pass


def test_an_error_gives_the_lease_back(workspaces: Workspaces) -> None:
    with pytest.raises(KeyError), workspaces.lease("s1"):
        raise KeyError
    with workspaces.lease("s1"):
        pass


def test_a_workspace_that_cannot_be_made_gives_the_place_back(
    workspaces: Workspaces, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: Any) -> int:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(workspaces.shelf, "claim", full)
        with pytest.raises(OSError, match="No space"), workspaces.lease("s1"):
            pass
    with workspaces.lease("s1"):
        pass


def test_a_lease_that_is_not_held_has_no_directory(workspaces: Workspaces) -> None:
    lease = workspaces.lease("s1")
    with pytest.raises(RuntimeError, match="not held"):
        lease.directory.names()
    with lease:
        lease.directory.names()
    with pytest.raises(RuntimeError, match="not held"):
        lease.directory.names()


# ---------------------------------------------------------------------------- deleting


async def test_deleting_tells_what_runs_and_the_next_one_starts_empty(
    workspaces: Workspaces,
) -> None:
    told = asyncio.Event()
    loop = asyncio.get_running_loop()
    calls: list[str] = []

    def terminate() -> None:
        calls.append("told")
        loop.call_soon_threadsafe(told.set)

    async def program() -> bool:
        async with workspaces.lease("s1", terminate) as lease:
            lease.directory.write("file", b"x")
            await told.wait()
            assert lease.directory.names() == ["file"]
            return lease.revoked

    async def next_program() -> list[str]:
        async with workspaces.lease("s1") as lease:
            return lease.directory.names()

    running = asyncio.create_task(program())
    assert await eventually(lambda: workspaces.sessions() == ["s1"])
    waiting = asyncio.create_task(next_program())
    await asyncio.sleep(0)
    assert workspaces.delete("s1") is True
    assert workspaces.delete("s1") is False
    assert workspaces.sessions() == []
    assert await running is True
    assert await waiting == []
    assert calls == ["told"]
    assert await eventually(lambda: os.listdir(workspaces.root / ".removed") == [])


def test_what_runs_keeps_its_files_until_it_gives_the_lease_back(workspaces: Workspaces) -> None:
    with workspaces.lease("s1") as lease:
        lease.directory.write("file", b"x")
        workspaces.delete("s1")
        workspaces.shelf.sweep()
        assert lease.directory.read("file", 10) == b"x"
        assert workspaces.open("s1").names() == []
        workspaces.open("s1").write("new", "y")
    assert workspaces.open("s1").names() == ["new"]
    assert until(lambda: os.listdir(workspaces.root / ".removed") == [])


def test_a_callback_that_raises_is_logged_and_stops_nothing(
    workspaces: Workspaces, caplog: pytest.LogCaptureFixture
) -> None:
    def broken() -> None:
        raise ValueError("a bug")

    with workspaces.lease("s1", broken) as lease:
        assert workspaces.delete("s1")
        assert lease.revoked
    # The keeper may have seen it first: then its thread calls and logs.
    assert until(lambda: "could not be terminated" in caplog.text)


# ---------------------------------------------------------------------------- processes


PROGRAM = """
import sys, threading
from sandbox_kernel.sessions import Workspaces
workspaces = Workspaces(sys.argv[1])
if sys.argv[2] == "count":
    for _ in range(25):
        with workspaces.lease("s1") as lease:
            count = int(lease.directory.read("count", 100))
            lease.directory.write("count", str(count + 1).encode())
elif sys.argv[2] == "delete":
    print(workspaces.delete("s1"), flush=True)
else:
    deleted = threading.Event()
    with workspaces.lease("s1", deleted.set) as lease:
        print("held", flush=True)
        if sys.argv[2] == "hold":
            sys.stdin.readline()
        else:
            print(deleted.wait(60), flush=True)
"""


def program(root: Path, what: str) -> subprocess.Popen[str]:
    command = [sys.executable, "-c", PROGRAM, str(root), what]
    return subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1
    )


def holding(running: subprocess.Popen[str]) -> None:
    """Waits until it has its lease."""
    assert running.stdout is not None
    assert running.stdout.readline() == "held\n"


def test_processes_take_turns(workspaces: Workspaces) -> None:
    workspaces.open("s1").write("count", "0")
    running = [program(workspaces.root, "count") for _ in range(3)]
    for each in running:
        each.communicate(timeout=60)
    assert workspaces.open("s1").read("count") == b"75"


def test_a_workspace_in_use_by_another_process_is_neither_evicted_nor_entered(
    workspaces: Workspaces,
) -> None:
    other = program(workspaces.root, "hold")
    holding(other)
    os.utime(workspaces.root / ".leases" / "s1", (0, 0))
    assert workspaces.evict() == []
    entered = threading.Event()

    def enter() -> None:
        with workspaces.lease("s1"):
            entered.set()

    thread = threading.Thread(target=enter)
    thread.start()
    assert not entered.wait(0.2)
    other.communicate("\n", timeout=60)
    thread.join(60)
    assert entered.is_set()


def test_a_process_that_is_killed_gives_its_leases_back(workspaces: Workspaces) -> None:
    other = program(workspaces.root, "hold")
    holding(other)
    other.kill()
    other.communicate(timeout=60)
    with workspaces.lease("s1"):
        pass


def test_deleting_in_one_process_ends_what_runs_in_another(workspaces: Workspaces) -> None:
    runs = program(workspaces.root, "wait")
    holding(runs)
    assert program(workspaces.root, "delete").communicate(timeout=60)[0] == "True\n"
    assert runs.communicate(timeout=60)[0] == "True\n"
    workspaces.shelf.sweep()
    assert os.listdir(workspaces.root / ".removed") == []
