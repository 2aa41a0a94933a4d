"""The attacks of attacks.py, at every level, from a host that is root and from one that is nobody."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from sandbox_kernel.programs.levels import LEVELS
from sandbox_kernel.programs.spawn import own_interpreter, zygote_paths
from tests.programs.attacks import ATTACKS, GOT_THROUGH, Attack

ROOT = Path(__file__).parents[2]
NOBODY = "65534"
AS_NOBODY = ["setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups"]
HOSTS = ["itself", "nobody"] if os.getuid() == 0 else ["itself"]


def interpreter_for_others() -> str | None:
    """One of our version that any user can start."""
    version = f"python{sys.version_info.major}.{sys.version_info.minor}"
    for found in (own_interpreter(), shutil.which(version, path="/usr/bin:/usr/local/bin")):
        trial = [*AS_NOBODY, found or "", "-c", "import os, sys; os.stat(sys.executable)"]
        if found and subprocess.run(trial, capture_output=True).returncode == 0:
            return found
    return None


def command(host: str, *words: str) -> list[str] | None:
    """Starts a module of ours with arguments, as the host that it names."""
    module = ["-m", *words]
    if host == "itself":
        return [sys.executable, *module]
    python = interpreter_for_others() if shutil.which("setpriv") else None
    return [*AS_NOBODY, python, *module] if python else None


def environment() -> dict[str, str]:
    """In which any user finds what we import."""
    site = [path for path in sys.path if path.endswith("site-packages")]
    scripts = [os.path.join(sys.prefix, "bin"), os.environ["PATH"]]
    return {
        "PYTHONPATH": os.pathsep.join([str(ROOT), *zygote_paths(), *site]),
        "PYTHONDONTWRITEBYTECODE": "1",
        "PATH": os.pathsep.join(scripts),
    }


@cache
def attempted(host: str, level: str) -> dict[str, Any] | str:
    """What the attacks found, of one program for all of them; or why they could not be tried."""
    found = command(host, "tests.programs.attacks", level)
    if found is None:
        return "takes setpriv, and an interpreter that everybody can start"
    done = subprocess.run(
        found, capture_output=True, text=True, timeout=120, cwd=ROOT, env=environment()
    )
    if "IsolationError" in done.stderr:
        return done.stderr.splitlines()[-1]
    assert done.returncode == 0, done.stderr
    report: dict[str, Any] = json.loads(done.stdout)
    return report


def report(host: str, level: str) -> dict[str, Any]:
    found = attempted(host, level)
    if isinstance(found, str):
        pytest.skip(found)
    return found


@pytest.mark.parametrize("host", HOSTS)
@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("attack", ATTACKS, ids=lambda attack: attack.name)
def test_an_attack_is_stopped(attack: Attack, level: str, host: str) -> None:
    assert report(host, level)["outcomes"][attack.name] != GOT_THROUGH


@pytest.mark.parametrize("host", HOSTS)
@pytest.mark.parametrize("level", LEVELS)
def test_the_victims_are_as_they_were(level: str, host: str) -> None:
    found = report(host, level)
    assert (found["content"], found["mode"], found["attributes"]) == ("secret", 0o666, [])
    assert found["modified"] > 0
    assert found["folder"] == ["secret", "socket"]
    assert found["user"] == (int(NOBODY) if host == "nobody" else os.getuid())


@pytest.mark.parametrize("host", HOSTS)
def test_only_a_root_of_its_own_hides_that_files_exist(host: str) -> None:
    hidden = report(host, "namespaces")["seen"].values()
    assert all(outcome.startswith("FileNotFoundError") for outcome in hidden)
    assert set(report(host, "landlock")["seen"].values()) == {GOT_THROUGH}


def test_there_are_as_many_attacks_as_asked_for() -> None:
    assert len({attack.name for attack in ATTACKS}) == len(ATTACKS) >= 150
