"""The host's side of the zygote: a process that was reaped is never signalled again."""

from __future__ import annotations

import os
import socket
import subprocess
import sys

import pytest

from sandbox_kernel.engine.spawn import Spawned
from sandbox_kernel.engine.zygote import ZygoteProcess

# Ends the script with status 99 if a signal goes to a process after it was reaped: by then its
# number may belong to a stranger.
WATCH = """
import os, re, signal, sys
reaped = set()
really_kill, really_waitpid, really_signal = os.kill, os.waitpid, signal.pidfd_send_signal

def accuse(pid):
    os.write(2, f"{pid} was signalled after it was reaped".encode())
    os._exit(99)

def kill(pid, number):
    if pid in reaped:
        accuse(pid)
    really_kill(pid, number)

def pidfd_send_signal(descriptor, *args):
    with open(f"/proc/self/fdinfo/{descriptor}") as info:
        pid = int(re.search(r"^Pid:\\s*(-?[0-9]+)", info.read(), re.M)[1])
    if pid in reaped:
        accuse(pid)
    really_signal(descriptor, *args)

def waitpid(pid, options):
    found, status = really_waitpid(pid, options)
    if found:
        reaped.add(found)
    return found, status

def waitid(kind, ident, options):
    found = really_waitid(kind, ident, options)
    reaped.add(found.si_pid)
    return found

really_waitid, os.waitid = os.waitid, waitid
os.kill, os.waitpid, signal.pidfd_send_signal = kill, waitpid, pidfd_send_signal
from sandbox_kernel import Engine, run_code
"""

ENDINGS = {
    "left_to_the_interpreter": "run_code('export default 1').wait(20)",
    "closed_once": """
engine = Engine(spares=1)
run_code('export default 1', engine=engine).wait(20)
engine.close()
assert len(reaped) == 1, reaped
""",
    "closed_twice": """
engine = Engine(spares=1)
run_code('export default 1', engine=engine).wait(20)
engine.close()
engine.close()
assert len(reaped) == 1, reaped
""",
    "closed_after_the_default_engine_took_over": """
run_code('export default 1').wait(20)
Engine.instance().close()
assert len(reaped) == 1, reaped
""",
    "closed_amid_a_run_that_began_without_an_engine": """
run = run_code('for (;;);')
Engine.instance().close()
assert run.wait(20).status == 'terminated'
assert len(reaped) == 1, reaped
""",
    "closed_after_the_zygote_died": """
from tests.waiting import until
engine = Engine(spares=1)
run_code('export default 1', engine=engine).wait(20)
zygote = engine.processes().zygote
os.kill(zygote, signal.SIGKILL)
assert until(lambda: engine.processes().zygote != zygote)
engine.close()
engine.close()
assert until(lambda: zygote in reaped), reaped
""",
    "closed_after_the_zygote_was_replaced": """
engine = Engine(spares=1)
run_code('export default 1', engine=engine).wait(20)
first = engine.processes().zygote
engine.cpu_seconds = 5
assert run_code('export default 1', engine=engine).wait(20).result == 1
assert engine.processes().zygote != first
engine.close()
assert len(reaped) == 2, reaped
""",
}


@pytest.mark.skipif(sys.platform != "linux", reason="reads which process a descriptor stands for")
@pytest.mark.parametrize("ending", ENDINGS)
def test_a_reaped_process_is_never_signalled(ending: str) -> None:
    script = WATCH + ENDINGS[ending] + "\nprint('at the end')\n"
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, timeout=60, check=False
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "at the end\n", "")


@pytest.mark.skipif(sys.platform != "linux", reason="reads which process a descriptor stands for")
def test_the_watch_notices_a_signal_to_a_reaped_process() -> None:
    """The control: without it, the test above would pass if nothing were watched."""
    script = (
        WATCH
        + "child = os.posix_spawn('/bin/true', ['true'], {})\nos.waitpid(child, 0)\nos.kill(child, 9)"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, timeout=60, check=False
    )
    assert done.returncode == 99


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux has pidfds")
def test_a_zygote_that_the_host_reaped_itself_is_not_signalled_by_its_number(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """By then the number may be another process's, or another child's."""
    signalled: list[int] = []
    waited: list[int] = []
    ours, theirs = socket.socketpair()
    pid = os.posix_spawn("/bin/true", ["true"], {})
    spawned = Spawned(pid, ours, 1, os.pidfd_open(pid))
    os.waitpid(pid, 0)
    monkeypatch.setattr(os, "kill", lambda pid, number: signalled.append(pid))
    monkeypatch.setattr(os, "waitpid", lambda pid, options: waited.append(pid))
    theirs.close()
    ZygoteProcess(spawned, *[lambda *_: None] * 4).close()
    assert (signalled, waited) == ([], [])
