"""pip and npm, which install archives that need no building for a program, and run nothing of them."""

from __future__ import annotations

import os
import re
import shutil
import signal
import stat
import subprocess
import sys
import tempfile
import threading
from contextlib import suppress
from pathlib import Path
from time import monotonic

from ..brief import brief_text
from ..isolation.beneath import Directory, Quota
from ..sizes import spell_size
from .runtimes import NODE

QUOTA = Quota(512 * 2**20, 50_000)
_SECONDS = 300.0
_LOOK_SECONDS = 0.25
_LONGEST = 200
_PYTHON_NAME = re.compile(
    r"[A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?"
    r"(?:\[[A-Za-z0-9._-]+(?:,[A-Za-z0-9._-]+)*\])?(?:==[A-Za-z0-9][A-Za-z0-9.!+_-]*)?"
)
_NPM_NAME = re.compile(
    r"((?:@[a-z0-9][a-z0-9._-]*/)?[a-z0-9][a-z0-9._-]*)(?:(?:==|@)([0-9][0-9A-Za-z.+-]*))?"
)
_PIP = (
    "-I", "-m", "pip", "install", "--only-binary", ":all:", "--no-compile", "--no-input",
    "--disable-pip-version-check", "--quiet", "--target",
)  # fmt: skip
_NPM = (
    "install", "--ignore-scripts", "--no-audit", "--no-fund", "--no-save", "--no-package-lock",
    "--loglevel=error", "--prefix",
)  # fmt: skip


def checked_name(runtime: str, given: object) -> str:
    """As the installer is told it; ValueError if it is anything but a name and a version."""
    pattern = _NPM_NAME if runtime == NODE else _PYTHON_NAME
    match = None
    if isinstance(given, str) and len(given) <= _LONGEST:
        match = pattern.fullmatch(given)
    if match is None:
        spelled = brief_text(given) if isinstance(given, str) else type(given).__name__
        form = "NAME or NAME@VERSION" if runtime == NODE else "NAME, NAME[extra] or NAME==VERSION"
        raise ValueError(f"{spelled} is not the name of a package; write {form}")
    if runtime == NODE:
        return match[1] if match[2] is None else f"{match[1]}@{match[2]}"
    return match[0]


def install(runtime: str, name: str, folder: str, stop: threading.Event) -> None:
    """Blocks. RuntimeError with a message for the program, which tells nothing of the host."""
    work = tempfile.mkdtemp(dir=os.path.dirname(os.path.dirname(folder)))
    try:
        staging, scratch = (os.path.join(work, each) for each in ("new", "tmp"))
        for each in (staging, scratch):
            os.mkdir(each)
        _run(_command(runtime, name, staging), name, work, scratch, stop)
        _merge(staging, folder, name)
    finally:
        shutil.rmtree(work, ignore_errors=True)


def _command(runtime: str, name: str, staging: str) -> list[str]:
    if runtime != NODE:
        return [sys.executable, *_PIP, staging, "--", name]
    npm = shutil.which("npm")
    if npm is None:
        raise RuntimeError("packages cannot be installed: the host has no npm")
    return [npm, *_NPM, staging, "--", name]


def _run(command: list[str], name: str, work: str, scratch: str, stop: threading.Event) -> None:
    """In a group of its own, which is ended with the program, and if it takes too much."""
    with tempfile.TemporaryFile() as said:
        process = subprocess.Popen(  # the name has been checked
            command,
            cwd=scratch,
            env={**_environment(), "TMPDIR": scratch},
            stdin=subprocess.DEVNULL,
            stdout=said,
            stderr=said,
            umask=0o022,
            start_new_session=True,
        )
        try:
            _wait(process, name, work, stop)
        finally:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
        if process.returncode:
            said.seek(0)
            raise RuntimeError(_why(name, said.read(1 << 20)))


def _environment() -> dict[str, str]:
    """Addresses and proxies are for installers; what configures a service, its key too, is not."""
    return {name: value for name, value in os.environ.items() if not name.startswith("SANDBOX_")}


def _wait(process: subprocess.Popen[bytes], name: str, work: str, stop: threading.Event) -> None:
    until = monotonic() + _SECONDS
    while process.poll() is None:
        if stop.wait(_LOOK_SECONDS) or monotonic() > until:
            raise RuntimeError(f"{name} could not be installed in time")
        _check_quota(work, name)


def _why(name: str, said: bytes) -> str:
    """Of what an installer says, nothing is passed on: it may name addresses, users and paths."""
    missing = (b"No matching distribution", b"E404", b"ETARGET")
    if any(each in said for each in missing):
        return f"no package {name} was found that can be installed without building it"
    return f"{name} could not be installed"


def _check_quota(folder: str, name: str, used: int = 0) -> None:
    with Directory.at(folder, quota=QUOTA) as directory:
        usage = directory.usage()
    if usage.bytes + used > QUOTA.bytes or usage.files > QUOTA.files:
        size = f"{spell_size(QUOTA.bytes)} and {QUOTA.files:,} files"
        raise RuntimeError(f"{name} is too large: packages may take {size}")


def _merge(staging: str, folder: str, name: str) -> None:
    """Regular files and folders only, with plain permissions."""
    with Directory.at(folder, quota=QUOTA) as directory:
        used = directory.usage().bytes
    _check_quota(staging, name, used)
    for here, folders, files in os.walk(staging):
        target = Path(folder, os.path.relpath(here, staging))
        target.mkdir(mode=0o755, parents=True, exist_ok=True)
        folders[:] = [each for each in folders if not os.path.islink(os.path.join(here, each))]
        for each in files:
            source = os.path.join(here, each)
            mode = os.lstat(source).st_mode
            if stat.S_ISREG(mode):
                os.chmod(source, 0o755 if mode & 0o111 else 0o644)
                shutil.move(source, target / each)
