"""How the command ends: interrupted, unread, killed; and that nothing is left behind."""

from __future__ import annotations

import fcntl
import os
import shlex
import signal
import subprocess
import sys
import termios
from pathlib import Path
from typing import IO

import psutil
import pytest

from tests.cli.command import COMMAND, started
from tests.processes import gone
from tests.waiting import until

LOOP = "console.log('going'); for (;;);"


@pytest.fixture
def loop(tmp_path: Path) -> str:
    (tmp_path / "loop.ts").write_text(LOOP)
    return str(tmp_path / "loop.ts")


def _descendants(process: subprocess.Popen[str]) -> list[int]:
    """Its zygote is one, and the workers below that."""
    return [child.pid for child in psutil.Process(process.pid).children(recursive=True)]


@pytest.mark.parametrize(
    ("sent", "code"),
    [(signal.SIGINT, 130), (signal.SIGTERM, -signal.SIGTERM), (signal.SIGKILL, -signal.SIGKILL)],
)
def test_a_signal_ends_an_endless_loop_and_leaves_no_process(
    loop: str, sent: signal.Signals, code: int
) -> None:
    with started("run", loop) as process:
        assert process.stderr is not None
        assert process.stderr.readline() == "going\n"
        others = _descendants(process)
        assert others
        os.kill(process.pid, sent)
        assert process.wait(30) == code
        assert "Traceback" not in process.stderr.read()
        assert until(lambda: all(gone(pid) for pid in others))


def test_ctrl_c_ends_a_flood_that_nobody_reads(tmp_path: Path) -> None:
    (tmp_path / "flood.ts").write_text("for (;;) console.log('x'.repeat(1000))")
    with started("run", str(tmp_path / "flood.ts")) as process:
        assert until(lambda: _descendants(process))
        others = _descendants(process)
        pipe = process.stderr
        assert pipe is not None
        assert until(lambda: _unread(pipe) > 60_000)  # of the 65,536 that it holds
        os.kill(process.pid, signal.SIGINT)
        assert process.wait(30) == 130
        assert "Traceback" not in pipe.read()
        assert until(lambda: all(gone(pid) for pid in others))


def _unread(pipe: IO[str]) -> int:
    """How many bytes wait in it."""
    return int.from_bytes(fcntl.ioctl(pipe.fileno(), termios.FIONREAD, bytes(4)), sys.byteorder)


def test_a_reader_that_goes_away_is_not_an_error(tmp_path: Path) -> None:
    (tmp_path / "long.ts").write_text("'x'.repeat(1e6)")
    read, write = os.pipe()
    with started("run", str(tmp_path / "long.ts"), stdout=write) as process:
        os.close(write)
        os.close(read)
        assert process.stderr is not None
        assert process.stderr.read() == ""
        assert process.wait(30) == 0


def test_logs_that_nobody_reads_do_not_stop_the_run(tmp_path: Path) -> None:
    (tmp_path / "logs.ts").write_text(
        "for (let n = 0; n < 5000; n++) console.log('x'.repeat(100)); 'done'"
    )
    read, write = os.pipe()
    with started("run", str(tmp_path / "logs.ts"), stderr=write) as process:
        os.close(write)
        os.close(read)
        assert process.stdout is not None
        assert process.stdout.read() == "done\n"
        assert process.wait(30) == 0


def test_a_disk_that_is_full_is_said_without_a_traceback(tmp_path: Path) -> None:
    (tmp_path / "a.ts").write_text("'done'")
    with (
        Path("/dev/full").open("w") as full,
        started("run", str(tmp_path / "a.ts"), stdout=full) as process,
    ):
        assert process.stderr is not None
        assert (
            process.stderr.read()
            == "sandbox-kernel: cannot write to stdout: No space left on device\n"
        )
        assert process.wait(30) == 1


@pytest.mark.parametrize(("closed", "printed"), [("<&-", "null\n"), (">&-", ""), ("2>&-", "[]\n")])
def test_a_stream_that_is_closed_is_an_empty_one(closed: str, printed: str, tmp_path: Path) -> None:
    """As some schedulers start their commands."""
    (tmp_path / "a.ts").write_text("console.log('going'); args")
    words = [*COMMAND, "run", "--json", "-" if closed == "<&-" else str(tmp_path / "a.ts")]
    line = f"exec {shlex.join(words)} {closed}"
    done = subprocess.run(["sh", "-c", line], capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stdout) == (0, printed)
    assert "Traceback" not in done.stderr


def test_a_terminal_without_unicode_gets_escapes(tmp_path: Path) -> None:
    (tmp_path / "a.ts").write_text("'naïve ☃'")
    environment = {**os.environ, "PYTHONIOENCODING": "ascii", "PYTHONUTF8": "0"}
    done = subprocess.run(
        [*COMMAND, "run", str(tmp_path / "a.ts")], env=environment, capture_output=True, timeout=60
    )
    assert (done.returncode, done.stdout) == (0, b"na\\xefve \\u2603\n")
