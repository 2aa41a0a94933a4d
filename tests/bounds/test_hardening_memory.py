"""A worker whose memory cannot be limited is not used."""

from __future__ import annotations

import re
import resource
import subprocess
import sys
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from sandbox_kernel import Engine, run_code
from sandbox_kernel.engine import spawn

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="only Linux has such limits")
MEMORY = 16 * 2**20


def limit_of_a_run(engine: Engine, memory: int) -> int:
    seen: list[str] = []

    def look() -> None:
        (pid,) = engine.processes().workers
        seen.append(Path(f"/proc/{pid}/limits").read_text())

    source = "look(); export default 1"
    result = run_code(source, engine=engine, globals={"look": look}, memory_limit_bytes=memory)
    assert result.wait(30).result == 1
    found = re.search(r"Max address space +(\d+) +(\d+) ", seen[0])
    assert found, seen
    assert found[1] == found[2]
    return int(found[1])


def test_a_worker_limits_itself_before_it_reads_its_order() -> None:
    with Engine(spares=0) as engine:
        small, large = limit_of_a_run(engine, MEMORY), limit_of_a_run(engine, 2 * MEMORY)
    assert large - small == pytest.approx(3 * MEMORY, abs=2**20)  # and what it was born with


def test_a_worker_that_cannot_be_limited_at_all_sees_no_order(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    stuck = (
        "from sandbox_kernel.isolation import rlimits\n"
        "def refuse(size): raise ValueError('not allowed')\n"
        "rlimits.address_space = refuse\n"
    )
    boot = spawn._BOOT
    paths = " sys.path[:0] = {paths!r};"
    assert paths in boot
    monkeypatch.setattr(spawn, "_BOOT", boot.replace(paths, f"{paths} exec({stuck!r});"))
    with Engine(spares=1) as engine:
        reports: list[Any] = []
        result = run_code("report(1)", engine=engine, report=reports.append).wait(30)
    assert result.error is not None
    assert (result.status, result.error.name, reports) == ("error", "EngineError", [])
    assert "memory" in result.error.message


def test_a_limit_beyond_what_there_is_runs_all_the_same() -> None:
    with Engine(spares=0) as engine:
        assert limit_of_a_run(engine, 2**53) == 2**42 - 1024


def test_a_host_that_is_limited_further_itself_runs_its_guests() -> None:
    """Then the limit of the host, which its worker was born with, is low enough."""
    most = 64 * 2**30
    code = (
        "from sandbox_kernel import Engine\n"
        "from tests.bounds.test_hardening_memory import limit_of_a_run\n"
        "with Engine(spares=0) as engine: print(limit_of_a_run(engine, 2**40))\n"
    )
    limited = partial(resource.setrlimit, resource.RLIMIT_AS, (most, most))
    done = subprocess.run([sys.executable, "-c", code], preexec_fn=limited, capture_output=True)
    assert done.stdout.split() == [str(most).encode()], done.stderr.decode()
