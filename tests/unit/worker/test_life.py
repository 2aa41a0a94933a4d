"""The rehearsal does what a run does, and leaves nothing of itself in the realm of a run."""

from __future__ import annotations

import subprocess
import sys
import threading
from collections.abc import Iterator
from typing import Any

import psutil
import pytest

from sandbox_kernel import Engine, run_code
from tests.waiting import until

REHEARSE = """
import gc, os, socket
gc.disable()
from sandbox_kernel.wire import messages
from sandbox_kernel.wire.frame import FrameReader
from sandbox_kernel.worker.__main__ import Zygote
from sandbox_kernel.worker.life import Life
host, _ = socket.socketpair()
zygote = Zygote(host, 60)
zygote._life.disconnect()  # as it is after a fork
zygote._rehearse()
reader = FrameReader(1 << 20)
heard = Life().rehearse(zygote._lockdown)
said = [frame.kind for frame in reader.feed(heard.recv_into(reader.room()))]
assert said == [messages.READY, messages.SAID, messages.FINISHED], said
assert zygote._claims or not os.path.exists('/proc/self/pagemap')
zygote._prepare()
"""

# The other end of the worker's socket, in a thread: it wakes the worker, waits until the worker has
# read that, and only then goes on.
WAKE = """
import fcntl, socket, sys, termios, threading
from sandbox_kernel.wire import messages
from sandbox_kernel.wire.frame import FrameReader, pack
from sandbox_kernel.worker.life import Life, _REHEARSED_FRAME
from sandbox_kernel.worker.lockdown import Lockdown
from tests.waiting import until
host, worker = socket.socketpair()

def unread():
    return int.from_bytes(fcntl.ioctl(host, termios.TIOCOUTQ, bytes(4)), sys.byteorder)

def send():
    for _ in range(3):
        host.sendall(b"".join(pack(messages.WAKE)))
        assert until(lambda: not unread())
    host.sendall(_REHEARSED_FRAME)

life = Life()
life.connect(worker.detach())
threading.Thread(target=send, daemon=True).start()
life.run(Lockdown(life.socket.fileno(), 0, 60), lambda: None, for_real=False)
reader, said = FrameReader(1 << 20), []
while messages.FINISHED not in said:
    said += [frame.kind for frame in reader.feed(host.recv_into(reader.room()))]
assert said == [messages.READY, messages.SAID, messages.FINISHED], said
"""


@pytest.fixture
def engine() -> Iterator[Engine]:
    with Engine(spares=1) as engine:
        yield engine


def test_the_zygote_rehearses_a_whole_life() -> None:
    subprocess.run([sys.executable, "-c", REHEARSE], check=True, timeout=60)


@pytest.mark.skipif(sys.platform != "linux", reason="asks Linux what the worker has read")
def test_a_worker_that_is_woken_without_a_job_keeps_waiting() -> None:
    subprocess.run([sys.executable, "-c", WAKE], check=True, timeout=60)


SURVEY = """
    const names = Object.getOwnPropertyNames(globalThis).sort().join();
    const shapes = [Object, Array, Promise, Math].map((x) => Reflect.ownKeys(x).length).join();
    stay();
    export default [names, shapes, typeof console, Math.random()];
"""


def survey(engine: Engine) -> tuple[int, Any]:
    """Which worker looked around its realm, and its result."""
    inside, leave = threading.Event(), threading.Event()

    def stay() -> None:
        inside.set()
        leave.wait(60)

    run = run_code(SURVEY, engine=engine, globals={"stay": stay})
    assert inside.wait(20)
    (worker,) = engine.processes().workers
    leave.set()
    return worker, run.wait(20)


def has_rehearsed(pid: int) -> bool:
    """It sleeps for the second time: first it waited a moment for a job, then it rehearsed."""
    process = psutil.Process(pid)
    asleep = process.status() == psutil.STATUS_SLEEPING
    return bool(asleep and process.num_ctx_switches().voluntary >= 2)


@pytest.mark.skipif(sys.platform != "linux", reason="asks Linux how often a process slept")
def test_a_spare_that_rehearsed_runs_the_next_job_in_a_realm_that_nothing_ran_in(
    engine: Engine,
) -> None:
    _, first = survey(engine)
    for _ in range(8):  # after so many forks the zygote has rehearsed, and so do its workers
        run_code("1", engine=engine).wait(20)
    assert until(lambda: engine.processes().spares)
    (spare,) = engine.processes().spares
    assert until(lambda: has_rehearsed(spare))
    worker, rehearsed = survey(engine)
    assert worker == spare
    assert rehearsed.result[:3] == first.result[:3]
    assert rehearsed.result[3] != first.result[3]
    assert rehearsed.logs == []
