"""How long the machine takes for the least that any sandbox in another process must do."""

from __future__ import annotations

import mmap
import os
import socket
import statistics
import time
from collections.abc import Callable

Buffer = bytearray | mmap.mmap
_SIZE = 8_000_000

FLOORS = {
    "round trip": "one byte to another process and back over a socket pair",
    "copy": "8 MB out of another process over a socket pair, into memory used before",
    "new": "the same, into new memory, as for a result",
    "fork": "fork of a bare Python process, until its exit is collected",
}

ROWS = {"fresh", "sync", "floats", "kept"}  # the rows compared with these


def measure(times: int = 200) -> dict[str, float]:
    """The median seconds of each."""
    blocks = max(3, times // 10)
    return {
        "round trip": _with_child(_echo, lambda end: _ping(end, times * 10)),
        "copy": _with_child(_send_blocks, lambda end: _receive_blocks(end, blocks, _used())),
        "new": _with_child(_send_blocks, lambda end: _receive_blocks(end, blocks, _new)),
        "fork": statistics.median(_fork() for _ in range(times)),
    }


def _with_child(
    child: Callable[[socket.socket], None], use: Callable[[socket.socket], float]
) -> float:
    ours, theirs = socket.socketpair()
    pid = os.fork()
    if not pid:
        ours.close()
        try:
            child(theirs)
        finally:
            os._exit(0)
    theirs.close()
    try:
        return use(ours)
    finally:
        ours.close()
        os.waitpid(pid, 0)


def _echo(end: socket.socket) -> None:
    while data := end.recv(1):
        end.send(data)


def _ping(end: socket.socket, times: int) -> float:
    taken = []
    for _ in range(times):
        began = time.perf_counter()
        end.send(b"x")
        end.recv(1)
        taken.append(time.perf_counter() - began)
    return statistics.median(taken)


def _send_blocks(end: socket.socket) -> None:
    block = bytes(_SIZE)
    while end.recv(1):
        end.sendall(block)


def _receive_blocks(end: socket.socket, times: int, room: Callable[[], Buffer]) -> float:
    taken = []
    for _ in range(times):
        into = memoryview(room())
        began = time.perf_counter()
        end.send(b"x")
        at = 0
        while at < len(into):
            at += end.recv_into(into[at:])
        taken.append(time.perf_counter() - began)
    return statistics.median(taken)


def _used() -> Callable[[], Buffer]:
    room = bytearray(b"x" * _SIZE)
    return lambda: room


def _new() -> Buffer:
    return mmap.mmap(-1, _SIZE, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)


def _fork() -> float:
    began = time.perf_counter()
    pid = os.fork()
    if not pid:
        os._exit(0)
    os.waitpid(pid, 0)
    return time.perf_counter() - began
