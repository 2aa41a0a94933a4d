"""Nothing is left behind: restart, shutdown, and death of the kernel take every process along."""

from __future__ import annotations

import os
import signal

import psutil

from tests.clients import Client
from tests.waiting import until


def family(client: Client) -> list[psutil.Process]:
    """The kernel's children and theirs, found while they live."""
    msg_id = client.send("console.log('x'); for (;;) {}")
    client.wait_for(msg_id, "stream")
    children = psutil.Process(client.pid).children(recursive=True)
    assert len(children) >= 2, "a zygote and a worker at least"
    return children


def wait_until_gone(processes: list[psutil.Process]) -> list[psutil.Process]:
    return psutil.wait_procs(processes, timeout=20)[1]


def test_sigkill_of_the_kernel_leaves_nothing(fresh_kernel: Client) -> None:
    children = family(fresh_kernel)
    os.kill(fresh_kernel.pid, signal.SIGKILL)
    assert wait_until_gone(children) == []


def test_shutdown_while_a_cell_runs_leaves_nothing(fresh_kernel: Client) -> None:
    children = family(fresh_kernel)
    fresh_kernel.manager.shutdown_kernel(now=False)
    assert wait_until_gone(children) == []


def test_restart_while_a_cell_runs_leaves_nothing_and_gives_a_fresh_kernel(
    fresh_kernel: Client,
) -> None:
    fresh_kernel.run("%%bridge b\nx = 1")
    children = family(fresh_kernel)
    fresh_kernel.manager.restart_kernel(now=False)
    fresh_kernel.channels.wait_for_ready(timeout=30)
    assert wait_until_gone(children) == []
    assert "no bridges" in fresh_kernel.run("%bridges").stdout


def test_a_hundred_cells_leave_no_zombies(kernel: Client) -> None:
    for number in range(100):
        kernel.run(f"{number}")
    assert until(lambda: _is_small_and_well(psutil.Process(kernel.pid)))


def _is_small_and_well(process: psutil.Process) -> bool:
    children = process.children(recursive=True)
    states = [child.status() for child in children]
    return psutil.STATUS_ZOMBIE not in states and len(children) < 12
