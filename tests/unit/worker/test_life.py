"""The rehearsal does what a run does, and leaves nothing of itself in the realm of a run."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Iterator

import pytest

from sandbox_kernel import Engine, run_code

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


@pytest.fixture
def engine() -> Iterator[Engine]:
    with Engine(spares=1) as engine:
        yield engine


def test_the_zygote_rehearses_a_whole_life() -> None:
    subprocess.run([sys.executable, "-c", REHEARSE], check=True, timeout=60)


def test_a_worker_that_was_woken_for_nothing_goes_on_waiting(engine: Engine) -> None:
    run_code("1", engine=engine).wait(20)
    time.sleep(0.4)
    (spare,) = engine._spares
    for _ in range(3):
        spare.wake()
        time.sleep(0.05)
    assert run_code("export default 1", engine=engine).wait(20).result == 1
    assert spare not in engine._spares


def test_a_run_that_was_rehearsed_finds_a_realm_that_nothing_has_run_in(engine: Engine) -> None:
    source = """
        const names = Object.getOwnPropertyNames(globalThis).sort().join();
        const shapes = [Object, Array, Promise, Math].map((x) => Reflect.ownKeys(x).length).join();
        export default [names, shapes, typeof console, Math.random()];
    """
    first = run_code(source, engine=engine).wait(20).result
    time.sleep(0.4)  # the zygote rehearses; so does the spare forked after that
    run_code("1", engine=engine).wait(20)
    time.sleep(0.4)
    rehearsed = run_code(source, engine=engine).wait(20)
    assert rehearsed.result[:3] == first[:3]
    assert rehearsed.result[3] != first[3]
    assert rehearsed.logs == []
