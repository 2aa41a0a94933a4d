"""A result is told when nothing of its program can run any more: what it lists is what there is.

The supervisor hears of an exit before the process is gone. So these try to go on after their exit.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from sandbox_kernel.programs import Programs
from sandbox_kernel.run import run_program
from sandbox_kernel.sessions import Workspaces
from tests.programs.conftest import SETTLE_SECONDS

GOES_ON = {
    "a thread": """
        import os, threading
        def write():
            while True: log.write(b"x")
        threading.Thread(target=write, daemon=True).start()
        os._exit(3)
    """,
    "a thread of a main thread that has ended": """
        import ctypes, os, threading
        def write():
            for _ in range(20_000): log.write(b"x")
            ctypes.CDLL(None)._exit(3)
        threading.Thread(target=write).start()
        ctypes.CDLL(None).syscall({"x86_64": 60, "aarch64": 93}[os.uname().machine], 0)
    """,
    "a handler in native code, called by a timer": """
        import ctypes, signal
        libc = ctypes.CDLL(None)
        @ctypes.CFUNCTYPE(None, ctypes.c_int)
        def handler(number): log.write(b"x")
        libc.signal(signal.SIGALRM, handler)
        signal.setitimer(signal.ITIMER_REAL, 0.02, 0.001)
        libc._exit(3)
    """,
    "a fork": """
        import os
        if os.fork() == 0:
            while True: log.write(b"x")
        os._exit(3)
    """,
    "forks that exit all the time": """
        import os
        for _ in range(20):
            if os.fork() == 0:
                log.write(b"x")
                os._exit(0)
        os._exit(3)
    """,
}


@pytest.mark.parametrize("how", GOES_ON)
def test_nothing_goes_on_after_the_end(how: str, programs: Programs, tmp_path: Path) -> None:
    if "fork" in how and programs.isolation == "landlock":
        pytest.skip("there are no forks at this level")
    lines = [line.removeprefix(" " * 8) for line in GOES_ON[how].splitlines()]
    code = "log = open('log', 'ab', buffering=0)\n" + "\n".join(lines)
    workspaces = Workspaces(tmp_path / "workspaces")
    with Programs(isolation=programs.isolation, spares=0) as own:
        run = run_program(code, engine=own, session="s1", workspaces=workspaces)
        result = run.wait(SETTLE_SECONDS)
        assert (result.exit_code, result.reason) == (3, None), result.stderr
    (file,) = result.output_files  # now that every process is gone
    assert file.data == workspaces.open("s1").read("log")
    workspaces.close()
