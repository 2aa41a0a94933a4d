"""The doctor of programs: it holds here, it would notice if it did not, and it says what is missing."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from sandbox_kernel import selftest
from sandbox_kernel.programs import Programs, checkup
from sandbox_kernel.programs.protocol import LANDLOCK
from tests.programs.weakened import programs_without


def test_every_attempt_fails_to_break_out(programs: Programs) -> None:
    checks = selftest.run_selftest_of_programs(programs)
    assert [check for check in checks if not check.holds] == []
    assert len(checks) == 8


def test_an_attempt_that_is_not_stopped_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    """The control: without Landlock, where that is what guards files, they are read."""
    with programs_without("landlock", LANDLOCK, monkeypatch) as weak:
        checks = selftest.run_selftest_of_programs(weak)
    assert "a program reads no file of the host" in {each.name for each in checks if not each.holds}


def test_the_doctor_tells_level_and_runtimes() -> None:
    command = [sys.executable, "-m", "sandbox_kernel", "doctor", "--json"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    found = json.loads(done.stdout)
    assert found["programs"]["isolation"] in ("namespaces", "landlock")
    assert found["programs"]["runtimes"]["python"].startswith("3.")
    assert sum(check["name"].startswith("a program") for check in found["checks"]) == 8


def test_a_runtime_that_is_missing_says_how_to_get_it() -> None:
    with Programs(node="/nowhere/node", spares=0) as made:
        assert "'/nowhere/node' was not found; install Node.js" in made.doctor()["runtimes"]["node"]


def test_a_level_that_is_missing_comes_with_advice() -> None:
    assert "userns" in checkup.advice({"namespaces": "PermissionError"})["namespaces"]
    assert "5.13" in checkup.advice({"landlock": "refused"})["landlock"]
    assert checkup.advice({}) == {}
