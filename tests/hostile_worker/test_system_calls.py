"""Arbitrary code in a locked-down worker asks the kernel for things, one worker per attempt."""

from __future__ import annotations

import asyncio
import json
import os
import sys
from pathlib import Path

import pytest

from sandbox_kernel.contract import CodeExecutionResult
from sandbox_kernel.engine import Engine
from sandbox_kernel.run import run_code
from sandbox_kernel.worker.lockdown import ALLOWED_CALLS
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
    """EBADF from recv and send on every other number; ENOTSOCK would come from what is not a socket."""
    found = attack(
        f"""
held = []
for number in range(0, 4096):
    if number == descriptor:
        continue
    for way in ({ALLOWED["recvfrom"]}, {ALLOWED["sendto"]}):
        if call(way, number, ctypes.create_string_buffer(8), 0, 0, None, None)[1] != errno.EBADF:
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


WAYS_OF_A_SOCKET = {
    "send_to_an_address": f"call({ALLOWED.get('sendto')}, descriptor, b'x', 1, 0, b'\\1\\0\\0x', 4)",
    "send_out_of_band": f"call({ALLOWED.get('sendto')}, descriptor, b'x', 1, 1, None, 0)",
    "receive_out_of_band": "channel._socket.recv(1, socket.MSG_OOB | socket.MSG_DONTWAIT)",
    "peek": "channel._socket.recv(1, socket.MSG_PEEK)",
    "ask_who_sent": "channel._socket.recvfrom(1, socket.MSG_DONTWAIT)",
    "send_a_message": "channel._socket.sendmsg([b'x'])",
    "receive_a_message": "channel._socket.recvmsg(1, 100)",
    "pass_its_descriptor_on": (
        "channel._socket.sendmsg([b'x'], [(socket.SOL_SOCKET, socket.SCM_RIGHTS,"
        " descriptor.to_bytes(4, 'little'))])"
    ),
    "read": "os.read(descriptor, 1)",
    "write": "os.write(descriptor, b'x')",
}


@pytest.mark.parametrize("way", WAYS_OF_A_SOCKET)
def test_its_socket_is_good_for_sending_and_receiving_bytes_only(attack: Attack, way: str) -> None:
    assert is_killed(attack(WAYS_OF_A_SOCKET[way] + "\nanswer('done')"))


FUTEX, MADVISE, MREMAP = (ALLOWED.get(name) for name in ("futex", "madvise", "mremap"))
PRLIMIT = ALLOWED.get("prlimit64")
WAYS_OF_MEMORY = {
    "map_page_zero": f"call({MMAP}, None, 4096, 3, 0x32, -1, 0)",
    "lock_memory": f"call({MMAP}, None, 1 << 23, 3, 0x2022, -1, 0)",
    "share_memory": f"call({MMAP}, None, 4096, 3, 0x21, -1, 0)",
    "map_memory_that_grows_down": f"call({MMAP}, None, 4096, 3, 0x122, -1, 0)",
    "poison_a_page": f"call({MADVISE}, ctypes.c_void_p(id(libc) & ~4095), 4096, 100)",
    "take_a_page_offline": f"call({MADVISE}, ctypes.c_void_p(id(libc) & ~4095), 4096, 101)",
    "merge_pages": f"call({MADVISE}, ctypes.c_void_p(id(libc) & ~4095), 4096, 12)",
    "move_memory_to_an_address": f"call({MREMAP}, None, 4096, 4096, 3, 1 << 20)",
    "wake_another_worker": f"call({FUTEX}, ctypes.byref(ctypes.c_int()), 1, 1, None, None, 0)",
    "lock_a_futex_with_priorities": f"call({FUTEX}, ctypes.byref(ctypes.c_int(1)), 134, 0, None, None, 0)",
    "limit_another_process": f"call({PRLIMIT}, 1, 9, None, None)",
}


@pytest.mark.parametrize("way", WAYS_OF_MEMORY)
def test_what_a_run_needs_no_call_for_is_refused(attack: Attack, way: str) -> None:
    assert is_killed(attack(WAYS_OF_MEMORY[way] + "\nanswer('done')"))


def test_what_a_run_needs_is_allowed(attack: Attack) -> None:
    """The control: the tests above fail for their arguments."""
    found = attack(
        f"""
page = libc.mmap
page.restype = ctypes.c_void_p
at = page(None, 8192, 3, 0x22, -1, 0)
advised = [call({MADVISE}, ctypes.c_void_p(at), 8192, advice)[0] for advice in (4, 8, 23)]
woken = call({FUTEX}, ctypes.byref(ctypes.c_int()), 129, 1, None, None, 0)[0]
moved = call({MREMAP}, ctypes.c_void_p(at), 8192, 4096, 1)[0] == at
answer([advised, woken, moved])
"""
    )
    assert (found.status, found.result) == ("success", [[0, 0, 0], 0, True])


def test_it_cannot_raise_the_limit_of_its_memory(attack: Attack) -> None:
    found = attack(
        f"""
limit = struct.pack('<QQ', 1 << 50, 1 << 50)
unlimited = struct.pack('<QQ', 2**64 - 1, 2**64 - 1)
answer([errno.errorcode[call({PRLIMIT}, 0, 9, each, None)[1]] for each in (limit, unlimited)])
"""
    )
    assert (found.status, found.result) == ("success", ["EPERM", "EPERM"])


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
