"""The host's hold on a worker."""

from __future__ import annotations

import socket
import subprocess
import sys

import pytest

from sandbox_kernel.engine import worker as module
from sandbox_kernel.engine.worker import Worker
from sandbox_kernel.wire import messages
from sandbox_kernel.wire.frame import HEAD

_MEBIBYTE = 2**20


@pytest.mark.skipif(sys.platform != "linux", reason="other systems have no such limit")
@pytest.mark.parametrize("system_tells", [True, False])
def test_an_address_space_is_limited_even_if_the_system_does_not_tell_how_large_it_is(
    system_tells: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    if not system_tells:  # as without /proc, or without a descriptor left
        monkeypatch.setattr(module, "_open", lambda path: -1)
    ours, theirs = socket.socketpair()
    with subprocess.Popen(["sleep", "60"]) as process, theirs:
        worker = Worker(ours, process.pid, None)
        try:
            frame = b"".join(worker.limit_address_space(64 * _MEBIBYTE))
        finally:
            worker.close()
    _, kind, kilobytes, *_ = HEAD.unpack(frame)
    assert kind == messages.LIMIT
    assert 64 * _MEBIBYTE < kilobytes * 1024 < 2048 * _MEBIBYTE
