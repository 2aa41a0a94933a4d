"""Many programs, one after another and at once, and what the host holds on to after.

CI takes a few; `make soak` sets SANDBOX_SOAK_SECONDS and takes 10,000, 200 at once, and one that
leaves a million files.
"""

from __future__ import annotations

import asyncio
import gc
import itertools
import os
import sys
import tempfile
from pathlib import Path

import psutil
import pytest

from sandbox_kernel.errors import IsolationError
from sandbox_kernel.programs import Programs
from sandbox_kernel.programs.levels import LEVELS
from sandbox_kernel.run import run_program
from tests.faults.health import descriptors, resident
from tests.waiting import until

pytestmark = pytest.mark.scaled
IS_LONG = "SANDBOX_SOAK_SECONDS" in os.environ
IN_A_ROW, AT_ONCE, LEFT = (10_000, 200, 1_000_000) if IS_LONG else (150, 30, 25_000)
_SIDE_BY_SIDE = 8
_GROWTH = 24 * 2**20  # bytes that an interpreter's own caches, and gaps between them, may take
_BLOCKS = 5_000  # pieces of memory in use, of which a leak would take one for each program at least

ENDINGS = {
    "print('a' * 1000)": 0,
    "open('f', 'w').write('x' * 10_000)": 0,
    "raise ValueError('x')": 1,
    "import os; os._exit(3)": 3,
    "import os, signal; os.kill(os.getpid(), signal.SIGKILL)": 137,
    "set_result(list(range(1000)))": 0,
}

if sys.platform != "linux":
    collect_ignore_glob = ["test_*.py"]


async def _many(programs: Programs, count: int) -> None:
    kinds = itertools.islice(itertools.cycle(ENDINGS.items()), count)

    async def one_after_another() -> None:
        for code, expected in kinds:
            result = await run_program(code, engine=programs)
            assert result.exit_code == expected, (code, result)

    await asyncio.gather(*(one_after_another() for _ in range(_SIDE_BY_SIDE)))


@pytest.mark.timeout(3600)
def test_many_programs_leave_nothing_behind() -> None:
    with Programs() as programs:
        _tried(programs)
        asyncio.run(_many(programs, 60))
        gc.collect()
        before = resident(), descriptors(), sys.getallocatedblocks()
        asyncio.run(_many(programs, IN_A_ROW))
        gc.collect()
        assert until(lambda: descriptors() <= before[1] + 4)
        assert resident() - before[0] < _GROWTH
        assert sys.getallocatedblocks() - before[2] < _BLOCKS
        places = 2 * programs.spares  # a supervisor and a guest each
        assert until(lambda: _processes(programs) <= places + 2 * len(programs.processes().zygotes))
    assert programs.processes().zygotes == ()


@pytest.mark.timeout(600)
def test_many_programs_execute_at_once() -> None:
    """Each waits for all of the others, so that none ends before all have begun."""

    async def main(programs: Programs) -> list[str]:
        arrived = 0
        all_there = asyncio.Event()

        async def meet() -> int:
            nonlocal arrived
            arrived += 1
            if arrived == AT_ONCE:
                all_there.set()
            await all_there.wait()
            return arrived

        code = "print(call_tool('meet'))"
        runs = [
            run_program(code, engine=programs, tools=[meet], timeout_ms=300_000)
            for _ in range(AT_ONCE)
        ]
        return [(await run).stdout for run in runs]

    with Programs(concurrency=AT_ONCE) as programs:
        _tried(programs)
        assert asyncio.run(main(programs)) == [f"{AT_ONCE}\n"] * AT_ONCE


LEAVES_FILES = f"""
import os
for folder in range(100):
    os.mkdir(str(folder))
    at = os.open(str(folder), os.O_RDONLY)
    for number in range({LEFT // 100}):
        os.close(os.open(str(number), os.O_CREAT | os.O_WRONLY, dir_fd=at))
    os.close(at)
"""
_LOOKED_AT = 20_000  # of what a program leaves
_PEAK = 96 * 2**20  # bytes for all that is looked at, and its names


@pytest.mark.timeout(1800)
@pytest.mark.parametrize("level", LEVELS)
def test_what_a_program_leaves_is_looked_at_within_bounds_and_removed(
    level: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where there is no tmpfs of its own, its folder is removed while others run."""
    with tempfile.TemporaryDirectory(dir="/dev/shm") as memory:
        os.chmod(memory, 0o711)
        monkeypatch.setattr(tempfile, "tempdir", memory)
        with Programs(isolation=level, directory_files=LEFT + 1000) as programs:
            _tried(programs)
            assert run_program("1", engine=programs).wait().exit_code == 0
            peak = Peak()
            result = run_program(
                LEAVES_FILES, engine=programs, timeout_ms=1_200_000, max_file_bytes=0
            ).wait()
            assert (result.exit_code, result.reason) == (0, None), result.stderr
            assert 0 < len(result.output_files) <= _LOOKED_AT
            assert run_program("print(1)", engine=programs).wait().stdout == "1\n"
            assert until(lambda: _files_beneath(memory) < LEFT // 100, seconds=900)
            assert peak.bytes() < _PEAK


class Peak:
    """How much more memory than now this process has at any time from now on."""

    def __init__(self) -> None:
        Path("/proc/self/clear_refs").write_text("5")
        self._before = self._most()

    def bytes(self) -> int:
        return self._most() - self._before

    def _most(self) -> int:
        text = Path("/proc/self/status").read_text()
        return int(text.split("VmHWM:")[1].split()[0]) * 1024


def _files_beneath(folder: str) -> int:
    return sum(len(files) for _, _, files in os.walk(folder))


def _tried(programs: Programs) -> None:
    try:
        programs.doctor()
    except IsolationError as error:
        pytest.skip(str(error))


def _processes(programs: Programs) -> int:
    guardians = programs.processes().zygotes
    return sum(1 + len(psutil.Process(each).children(recursive=True)) for each in guardians)
