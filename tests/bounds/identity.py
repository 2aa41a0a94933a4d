"""Run as a program: what the operating system says of a worker while it runs, as JSON.

With arguments, capabilities by number that this program gives up first, as a container would.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any


def of_a_worker() -> dict[str, Any]:
    """The fields of /proc/PID/status while a worker serves a run, and what `doctor` says."""
    from sandbox_kernel import Engine, run_code

    with Engine(spares=1) as engine:
        seen: dict[str, Any] = {}

        def look() -> None:
            (pid,) = engine.processes().workers
            seen.update(_fields_of(pid))
            zygote = dict(_fields_of(engine.processes().zygote))
            seen["zygote"] = [int(zygote[name][0], 16) for name in ("CapPrm", "CapBnd")]
            seen["oom"] = int(Path(f"/proc/{pid}/oom_score_adj").read_text())
            seen["limits"] = Path(f"/proc/{pid}/limits").read_text()

        result = run_code("look(); export default 1", engine=engine, globals={"look": look})
        seen["result"] = result.wait(30).result
        seen["doctor"] = engine.doctor()["worker_user"]
    return seen


def _fields_of(pid: int | None) -> list[tuple[str, list[str]]]:
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    return [(name, rest.split()) for name, _, rest in (line.partition(":") for line in lines)]


def give_up(capabilities: list[int]) -> None:
    """So that no program started from here has them, whoever owns it."""
    from sandbox_kernel.isolation.libc import libc

    for number in capabilities:
        assert libc.prctl(24, number, 0, 0, 0) == 0


if __name__ == "__main__":
    if len(sys.argv) > 1:
        import os

        give_up([int(number) for number in sys.argv[1:]])
        os.execv(sys.executable, [sys.executable, "-m", "tests.bounds.identity"])
    print(json.dumps(of_a_worker()))
