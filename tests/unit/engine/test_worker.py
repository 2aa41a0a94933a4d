"""The host's hold on a worker."""

from __future__ import annotations

import resource
import socket
import subprocess
import sys

import pytest

from sandbox_kernel.engine import worker as module
from sandbox_kernel.engine.worker import Worker

_MEBIBYTE = 2**20


@pytest.mark.skipif(sys.platform != "linux", reason="other systems limit no other process")
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
            worker.limit_address_space(64 * _MEBIBYTE)
            soft, hard = resource.prlimit(process.pid, resource.RLIMIT_AS)
        finally:
            worker.close()
    assert soft == hard
    assert 64 * _MEBIBYTE < hard < 2048 * _MEBIBYTE
