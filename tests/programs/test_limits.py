"""Every limit of a program, and that the host stays small whatever a program does."""

from __future__ import annotations

import asyncio
import os

import psutil
import pytest

from sandbox_kernel.programs import Programs
from sandbox_kernel.run import run_program
from tests.programs.conftest import SETTLE_SECONDS, Run
from tests.waiting import until

MIB = 2**20


@pytest.mark.parametrize(
    "code",
    [
        "while True: pass",
        "import time; time.sleep(60)",
        "import re; re.match('(a*)*b', 'a' * 64)",
        "x = 7 ** (7 ** 9)",
        "import signal, time\nfor n in (1, 2, 3, 15): signal.signal(n, signal.SIG_IGN)\nwhile True: time.sleep(9)",
        "while True:\n    try:\n        while True: pass\n    except BaseException: pass",
        "import os, signal; os.kill(os.getpid(), signal.SIGSTOP)",
        "import os; os.read(os.pipe()[0], 1)",
    ],
)
def test_the_time_limit_ends_whatever_it_does(run: Run, code: str) -> None:
    result = run(code, timeout_ms=150)
    assert (result.killed, result.oom, result.exit_code) == (True, False, 137)
    assert result.reason == "time limit of 150 ms"
    assert result.duration_ms >= 150


def test_the_time_limit_holds_while_the_hosts_loop_is_busy(programs: Programs) -> None:
    name = f"spin-{os.getpid()}"
    code = f"import ctypes; ctypes.CDLL(None).prctl(15, {name.encode()!r}, 0, 0, 0)\nprint(1)\nwhile True: pass"

    def lives() -> bool:
        return name in {process.info["name"] for process in psutil.process_iter(["name"])}

    async def main() -> None:
        handle = run_program(code, engine=programs, timeout_ms=300)
        async for _ in handle.stream():
            assert lives()
            assert until(lambda: not lives())  # nothing else happens on this loop meanwhile
        assert (await handle).reason == "time limit of 300 ms"

    asyncio.run(main())


ESCAPEE = """
import os, signal, time
for number in range(1, 32):
    try: signal.signal(number, signal.SIG_IGN)
    except (OSError, ValueError): pass
if os.fork() == 0:
    os.setsid()
    if os.fork(): os._exit(0)
    print(os.getpid(), flush=True)
    while True: time.sleep(0.01)
time.sleep(60)
"""


def test_the_whole_tree_ends_with_it(run: Run, level: str) -> None:
    if level != "namespaces":
        pytest.skip("a program cannot fork there")
    name = f"esc-{os.getpid()}"
    code = f"import ctypes; ctypes.CDLL(None).prctl(15, {name.encode()!r}, 0, 0, 0)" + ESCAPEE
    result = run(code, timeout_ms=500)
    assert result.stdout.strip().isdigit()  # the escapee was there
    assert result.killed
    assert name not in {process.info["name"] for process in psutil.process_iter(["name"])}


def test_children_end_with_their_program(run: Run, level: str) -> None:
    if level != "namespaces":
        pytest.skip("a program cannot fork there")
    code = "import os, time\nif os.fork() == 0:\n    while True: print('x', flush=True); time.sleep(0.001)\ntime.sleep(0.2)"
    result = run(code)
    assert result.exit_code == 0
    assert set(result.stdout.split()) == {"x"}


@pytest.mark.parametrize(
    "code",
    [
        "a = []\nwhile True: a.append(bytearray(1 << 20))",
        "a = ['x' * 1000]\nwhile True: a += a",
        "x = bytearray(1 << 40)",
        "import array; a = array.array('d', [0]) * (1 << 30)",
        "def f(n): return [f(n - 1) for _ in range(99)] if n else bytearray(9999)\nf(9)",
    ],
)
def test_memory_is_limited(run: Run, code: str) -> None:
    result = run(code, memory_limit_bytes=32 * MIB)
    assert (result.oom, result.killed, result.exit_code) == (True, False, 1)
    assert "MemoryError" in result.stderr


def test_a_memory_error_that_is_caught_is_not_the_end(run: Run) -> None:
    code = "try:\n    bytearray(1 << 40)\nexcept MemoryError:\n    print('caught')"
    result = run(code)
    assert (result.stdout, result.oom, result.exit_code) == ("caught\n", False, 0)


def test_memory_full_at_the_end_still_ends(run: Run) -> None:
    code = "import threading\na = []\ntry:\n    while True: a.append(bytes(4096))\nexcept MemoryError: pass\nraise MemoryError"
    result = run(code, memory_limit_bytes=32 * MIB)
    assert (result.oom, result.killed) == (True, False)


def test_forks_share_the_limit_of_memory(run: Run, level: str) -> None:
    if level != "namespaces":
        pytest.skip("a program cannot fork there")
    code = """
import os, time
for _ in range(8):
    if os.fork() == 0:
        kept = [bytes([n % 251]) * (1 << 20) for n in range(40)]
        time.sleep(30)
time.sleep(30)
"""
    result = run(code, memory_limit_bytes=64 * MIB)
    assert (result.oom, result.exit_code, result.reason) == (True, 137, "memory limit of 64 MiB")


@pytest.mark.skipif(
    os.stat("/proc/self/fd").st_size == 0, reason="before Linux 6.2 open files are not counted"
)
def test_forks_share_a_limit_of_open_files(run: Run, level: str) -> None:
    """What lies in pipes and sockets is memory of nobody's."""
    if level != "namespaces":
        pytest.skip("a program cannot fork there")
    code = """
import os, socket, time
for _ in range(32):
    if os.fork() == 0:
        kept = [socket.socketpair() for _ in range(100)]
        time.sleep(30)
time.sleep(30)
"""
    result = run(code)
    reason = "limit of 2,048 open files of all its processes"
    assert (result.exit_code, result.killed, result.reason) == (137, False, reason)


def test_pages_that_forks_share_count_once(run: Run, level: str) -> None:
    if level != "namespaces":
        pytest.skip("a program cannot fork there")
    code = """
import os, time
kept = bytearray(b'x') * (40 << 20)
for _ in range(8):
    if os.fork() == 0:
        time.sleep(0.3)
        os._exit(0)
time.sleep(0.4)
"""
    assert run(code, memory_limit_bytes=64 * MIB).exit_code == 0


def test_a_fork_bomb_is_stopped(run: Run, level: str) -> None:
    code = """
import os, time
count = 0
try:
    while True:
        if os.fork() == 0: time.sleep(30)
        count += 1
except OSError as error:
    print(count, flush=True)
"""
    result = run(code)
    assert (result.exit_code, int(result.stdout) < 64) == (0, True)


def test_a_bomb_of_threads_is_stopped(run: Run) -> None:
    code = """
import threading, time
threading.stack_size(32768)
try:
    for _ in range(5000): threading.Thread(target=time.sleep, args=(30,), daemon=True).start()
except RuntimeError:
    print(threading.active_count() <= 64, flush=True)
    import os; os._exit(0)
"""
    result = run(code)
    stopped_by_limit = result.stdout == "True\n"
    assert stopped_by_limit or result.reason == "limit of 64 processes and threads"


def test_a_file_has_a_largest_size(run: Run) -> None:
    result = run("open('big', 'wb').truncate(300 << 20)")
    assert "File too large" in result.stderr


def test_a_directory_has_a_size_in_all(level: str) -> None:
    code = "for n in range(99):\n    with open(f'f{n}', 'wb') as file: file.write(bytes(1 << 20))\n    import time; time.sleep(0.01)"
    with Programs(isolation=level, spares=0, directory_bytes=8 * MIB) as small:
        result = run_program(code, engine=small).wait(SETTLE_SECONDS)
    if level == "namespaces":
        assert "No space left on device" in result.stderr
    else:
        assert result.reason == "limit of its directory, 8 MiB and 4,000 files"
        assert (result.exit_code, result.killed) == (137, False)


HIDDEN = {
    "unlinked": "import os, time\nkept = []\nfor n in range(99):\n    f = open('f', 'wb'); os.unlink('f'); f.write(bytes(1 << 20)); f.flush(); kept.append(f); time.sleep(0.01)",
    "in_folders_that_nobody_may_list": "import os, time\nfor n in range(99):\n    os.mkdir(f'd{n}', 0o300)\n    with open(f'd{n}/f', 'wb') as f: f.write(bytes(1 << 20))\n    time.sleep(0.01)",
    "in_tmp": "import os, time\nos.chdir(os.environ['TMPDIR'])\nfor n in range(99):\n    with open(f'f{n}', 'wb') as f: f.write(bytes(1 << 20))\n    time.sleep(0.01)",
    "in_many_folders": "import os, time\nfor n in range(400): os.mkdir(f'd{n}')\nfor n in range(300, 400):\n    with open(f'd{n}/f', 'wb') as f: f.write(bytes(1 << 20))\n    time.sleep(0.01)",
    "where_no_path_leads": "import os, time\nfor n in range(20): os.mkdir('d' * 250); os.chdir('d' * 250)\nfor n in range(99):\n    with open(f'f{n}', 'wb') as f: f.write(bytes(1 << 20))\n    time.sleep(0.01)",
}


@pytest.mark.parametrize("how", HIDDEN)
def test_files_cannot_be_hidden_from_the_limit(level: str, how: str) -> None:
    with Programs(isolation=level, spares=0, directory_bytes=8 * MIB) as small:
        result = run_program(HIDDEN[how] + "\nprint('through')", engine=small).wait(SETTLE_SECONDS)
    assert "through" not in result.stdout
    assert result.exit_code in (1, 137)


def test_a_directory_has_a_number_of_files(level: str) -> None:
    code = "import time\nfor n in range(9999):\n    open(f'f{n}', 'w').close()\n    if n % 20 == 0: time.sleep(0.01)"
    with Programs(isolation=level, spares=0, directory_files=100) as small:
        result = run_program(code, engine=small).wait(SETTLE_SECONDS)
    assert "No space left" in result.stderr or "100 files" in (result.reason or "")


def test_open_files_are_limited(run: Run) -> None:
    result = run("import os\nkept = [open(os.devnull) for _ in range(999)]")
    assert "Too many open files" in result.stderr


def test_the_head_of_each_stream_is_kept(run: Run) -> None:
    code = "import sys\nfor n in range(50000): print(n); print(-n, file=sys.stderr)"
    result = run(code, output_bytes=1000)
    assert result.stdout == "".join(f"{n}\n" for n in range(9999))[:1000]
    assert result.stderr.startswith("0\n-1\n-2\n")
    assert (len(result.stdout), len(result.stderr), len(result.logs)) == (1000, 1000, 2000)
    assert (result.truncated, result.exit_code) == (True, 0)


def test_exactly_the_limit_is_not_cut(run: Run) -> None:
    result = run("print('x' * 9)", output_bytes=10)
    assert (result.stdout, result.truncated) == ("x" * 9 + "\n", False)
    assert (run("print()", output_bytes=0).stdout, run("", output_bytes=0).truncated) == ("", False)


def test_a_cut_never_splits_a_character(run: Run) -> None:
    assert run("print('€€€')", output_bytes=5).stdout == "€"


def test_bytes_that_are_not_text_are_replaced(run: Run) -> None:
    code = "import os; os.write(1, b'a\\xffb\\xe2\\x82'); os.write(2, b'\\xe2'); os.write(2, b'\\x82\\xac')"
    result = run(code)
    assert (result.stdout, result.stderr) == ("a\ufffdb\ufffd", "€")


def test_floods_leave_the_host_small(run: Run) -> None:
    before = psutil.Process().memory_info().rss
    code = """
import os, threading
def flood(number):
    while True: os.write(number, b'x' * 65536)
for number in (1, 2, 3):
    threading.Thread(target=flood, args=(number,), daemon=True).start()
import time; time.sleep(1)
os._exit(0)
"""
    result = run(code)
    assert len(result.stdout) <= 512 * 2**10
    assert psutil.Process().memory_info().rss - before < 64 * MIB


def test_an_invalid_message_ends_the_program(run: Run) -> None:
    result = run("import os, time; os.write(3, b'\\xff' * 64); time.sleep(30)")
    assert (result.killed, result.reason) == (True, "it sent an invalid message")


@pytest.mark.parametrize(
    "text",
    ["'[' * 100000", "'{\"data\": NaN, \"files\": []}'", "'[]'", "'{\"data\": 1, \"files\": [1]}'", "'{\"data\": 1' + '9' * 9999 + ', \"files\": []}'", "'{\"data\": [' + '[],' * 1300000 + '[]], \"files\": []}'"],
    ids=["deep", "not_json", "malformed", "names", "long_number", "heavy"],
)  # fmt: skip
def test_a_forged_result_is_refused(run: Run, text: str) -> None:
    code = f"""
import os, struct
text = ({text}).encode()
frame = memoryview(struct.pack('<IIIII', 16 + len(text), 2, 0, 0, len(text)) + text)
while frame: frame = frame[os.write(3, frame):]
"""
    result = run(code)
    assert "set_result:" in result.stderr
    assert (repr(result.result), result.exit_code) == ("undefined", 0)


def test_descriptors_that_a_program_sends_do_not_arrive(programs: Programs, run: Run) -> None:
    def held() -> int:
        """Beside those of spares, each of which has eight."""
        return len(os.listdir("/proc/self/fd")) - 8 * programs.processes().spares

    before = held()
    code = "import socket\ns = socket.socket(fileno=3)\nfor _ in range(50): socket.send_fds(s, [b'\\x10'], [0, 1, 2])"
    run(code)
    assert until(lambda: held() <= before + 8)  # a place that is made or tidied up meanwhile
