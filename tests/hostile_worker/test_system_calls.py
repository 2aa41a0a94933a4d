"""Arbitrary code in a locked-down worker asks the kernel for things, one worker per attempt."""

from __future__ import annotations

import asyncio
import json
import os
import socket
import sys
from pathlib import Path

import pytest

from sandbox_kernel.contract import CodeExecutionResult
from sandbox_kernel.engine import Engine
from sandbox_kernel.run import run_code
from sandbox_kernel.worker.lockdown import ALLOWED_CALLS
from tests.faults.health import descriptors
from tests.hostile_worker.conftest import Attack, engine_of_taken_workers
from tests.waiting import until

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="the filter is Linux's")

ALLOWED = ALLOWED_CALLS[os.uname().machine] if sys.platform == "linux" else {}
HIGHEST = 480  # beyond the newest system call there is
KILLED = "the worker was ended by SIGSYS"


# The kernel itself passes these two by every filter, and refuses them to all but its own probes.
EXEMPT = {335, 336} if os.uname().machine == "x86_64" else set()


def failed(result: CodeExecutionResult) -> bool:
    if result.status == "success":
        return bool(result.result[0] == -1)
    return result.error is not None and result.error.message == "the worker was ended by SIGILL"


def is_killed(result: CodeExecutionResult) -> bool:
    return result.status == "error" and result.error is not None and result.error.message == KILLED


async def test_every_system_call_that_is_not_allowed_kills(taken: Engine) -> None:
    refused = [number for number in range(HIGHEST) if number not in ALLOWED.values()]
    runs = [run_code(f"answer(call({n}, 0, 0, 0, 0, 0, 0))", engine=taken) for n in refused]
    results = await asyncio.gather(*runs)
    survived = {n: r for n, r in zip(refused, results, strict=True) if not is_killed(r)}
    assert set(survived) <= EXEMPT
    assert len(refused) - len(survived) >= HIGHEST - len(ALLOWED) - len(EXEMPT)
    assert {n: r for n, r in survived.items() if not failed(r)} == {}


@pytest.mark.skipif(os.uname().machine != "x86_64", reason="x32 is of x86-64")
@pytest.mark.parametrize("number", [0, 1, 2, 59, 512, 520])
def test_an_x32_system_call_kills(attack: Attack, number: int) -> None:
    assert is_killed(attack(f"answer(call({number} | 0x40000000, 0, 0, 0))"))


PYTHON_WAYS = {
    "read_a_file": "open('/etc/passwd').read()",
    "read_its_own_memory_map": "open('/proc/self/maps').read()",
    "read_the_environment_of_the_host": "open(f'/proc/{1}/environ').read()",
    "write_a_file": "open('/tmp/left-by-a-worker', 'w')",
    "list_a_folder": "os.listdir('/')",
    "import_a_module": "import sqlite3",
    "open_a_socket": "socket.socket()",
    "connect_to_the_network": "socket.create_connection(('127.0.0.1', 80), 1)",
    "start_a_program": "os.posix_spawn('/bin/true', ['true'], {})",
    "become_a_program": "os.execv('/bin/sh', ['sh', '-c', 'id'])",
    "fork": "os.fork()",
    "start_a_thread": "__import__('threading').Thread(target=int).start()",
    "signal_its_parent": "os.kill(os.getppid(), 9)",
    "signal_everyone": "libc.kill(-1, 9)",
    "duplicate_its_socket": "os.dup(descriptor)",
    "close_its_socket": "os.close(descriptor)",
    "raise_its_limits": "import resource; resource.setrlimit(resource.RLIMIT_NOFILE, (9, 9))",
    "load_a_library": "ctypes.CDLL('libresolv.so.2')",
    "sleep": "__import__('time').sleep(0)",
    "ask_who_it_is": "os.getuid()",
}


@pytest.mark.parametrize("way", PYTHON_WAYS)
def test_what_python_programs_do_kills(attack: Attack, way: str) -> None:
    result = attack(PYTHON_WAYS[way] + "\nanswer('done')")
    assert is_killed(result), result
    assert not Path("/tmp/left-by-a-worker").exists()


MMAP, MPROTECT = ALLOWED.get("mmap"), ALLOWED.get("mprotect")


@pytest.mark.parametrize("rights", [4, 5, 6, 7])
def test_making_memory_executable_kills(attack: Attack, rights: int) -> None:
    assert is_killed(attack(f"answer(call({MMAP}, None, 4096, {rights}, 0x22, -1, 0))"))
    turn = f"""
page = libc.mmap
page.restype = ctypes.c_void_p
at = page(None, 4096, 3, 0x22, -1, 0)
answer(call({MPROTECT}, ctypes.c_void_p(at), 4096, {rights}))
"""
    assert is_killed(attack(turn))


def test_data_memory_may_be_mapped(attack: Attack) -> None:
    """The control: the tests above fail for their rights, not for being calls of mmap."""
    result = attack(f"answer(call({MMAP}, None, 4096, 3, 0x22, -1, 0)[1])")
    assert (result.status, result.result) == ("success", 0)


def test_only_its_socket_is_open(attack: Attack) -> None:
    """EBADF from read and write on every number; on its own socket, EAGAIN or bytes would come."""
    found = attack(
        f"""
held = []
for number in range(0, 4096):
    if number == descriptor:
        continue
    for way in ({ALLOWED["read"]}, {ALLOWED["write"]}):
        if call(way, number, ctypes.create_string_buffer(8), 0)[1] != errno.EBADF:
            held.append((way, number))
answer(held)
"""
    )
    assert (found.status, found.result) == ("success", [])


LIMITS = {  # as /proc spells them: soft and hard
    "Max cpu time": ("300", "301"),
    "Max file size": ("0", "0"),
    "Max core file size": ("0", "0"),
    "Max processes": ("0", "0"),
    "Max open files": ("1", "1"),
    "Max locked memory": ("0", "0"),
}


def test_the_operating_system_confirms_the_lockdown_of_a_spare(taken: Engine) -> None:
    assert until(lambda: len(taken.processes().spares) == 2)
    process = Path("/proc", str(taken.processes().spares[0]))
    assert until(lambda: "\nSeccomp:\t2\n" in (process / "status").read_text())
    assert "\nNoNewPrivs:\t1\n" in (process / "status").read_text()
    lines = (process / "limits").read_text().splitlines()
    found = {line[:26].strip(): tuple(line[26:].split()[:2]) for line in lines}
    assert {name: found[name] for name in LIMITS} == LIMITS


@pytest.mark.skipif(os.getuid() == 0, reason="everything in /proc is root's then")
def test_a_spare_is_not_dumpable(taken: Engine) -> None:
    """What is not dumpable belongs to root in /proc: others of the same user read nothing of it."""
    assert until(lambda: len(taken.processes().spares) == 2)
    process = Path("/proc", str(taken.processes().spares[0]))
    assert until(lambda: (process / "environ").stat().st_uid == 0)


def test_its_environment_is_empty(attack: Attack) -> None:
    assert os.environ
    found = attack(
        "environ = ctypes.POINTER(ctypes.c_char_p).in_dll(libc, 'environ')\nanswer(environ[0])"
    )
    assert (found.status, found.result) == ("success", None)


def test_it_holds_nothing_of_the_hosts_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    """The zygote is started when the host has its secrets; what it can read of itself is searched."""
    secrets = [b"s3cr3t-" + os.urandom(8).hex().encode() for _ in range(2)]
    monkeypatch.setenv("SECRET", secrets[0].decode())
    kept = {"password": secrets[1].decode()}
    halves = json.dumps([[s[:11].decode(), s[11:].decode()] for s in secrets])
    search = (
        f"answer([memory.count((a + b).encode()) for a, b in {halves}]"
        " + [memory.count(b'READY') > 0])"
    )
    with engine_of_taken_workers(spares=0) as engine:
        found = run_code(search, engine=engine).wait(60)
    assert kept["password"].encode() == secrets[1]
    assert (found.status, found.result) == ("success", [0, 0, True])


def test_it_reaches_no_other_socket_through_its_own(attack: Attack) -> None:
    """sendto and sendmsg are allowed, but a connected socket takes no other address."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as target:
        target.bind(f"\0sandbox-kernel-test-target-{os.getpid()}")
        target.setblocking(False)
        found = attack(
            f"""
name = b'\\0sandbox-kernel-test-target-{os.getpid()}'
address = struct.pack('=H', socket.AF_UNIX) + name
told = [errno.errorcode[call({ALLOWED["sendto"]}, descriptor, b'x', 1, 0x40, address, len(address))[1]]]
try:
    channel._socket.sendmsg([b'x'], [], 0, name)
except OSError as error:
    told.append(errno.errorcode[error.errno])
answer(told)
"""
        )
        assert (found.status, found.result) == ("success", ["EISCONN", "EISCONN"])
        with pytest.raises(BlockingIOError):
            target.recv(10)


def test_a_descriptor_that_it_passes_on_does_not_arrive(attack: Attack, taken: Engine) -> None:
    """The host makes no room for one, so the operating system drops it."""
    before = descriptors(taken)
    found = attack(
        """
import array
from sandbox_kernel.wire.frame import pack
data = b''.join(pack(messages.REPORT, 0, 0, b'P1'))
for _ in range(50):
    rights = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array('i', [descriptor]))]
    channel._socket.sendmsg([data], rights)
answer('sent')
"""
    )
    assert (found.status, found.result, found.reports) == ("success", "sent", [1] * 50)
    assert until(lambda: descriptors(taken) <= before)


def test_memory_ends_at_its_limit(attack: Attack) -> None:
    """It may map what the kernel's own limit allows, and not more; the host sees that it did."""
    found = attack(
        f"""
total = 0
while call({MMAP}, None, 1 << 24, 3, 0x22, -1, 0)[0] > 0 and total < 1 << 36:
    total += 1 << 24
channel.post(messages.REPORT, 0, 0, b'P%d' % total)
answer(total)
""",
        memory_limit_bytes=16 * 2**20,
    )
    assert (found.status, len(found.reports)) == ("memory", 1)
    assert 0 < found.reports[0] < 2**30


def test_processor_time_ends_at_its_cap() -> None:
    with engine_of_taken_workers(cpu_seconds=1, spares=0) as engine:
        ended = run_code("while True: pass", engine=engine).wait(60)
    assert ended.status == "terminated"
    assert ended.error is not None
    assert ended.error.message == "safety cap: more than 1 s of processor time"
