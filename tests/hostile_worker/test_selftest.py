"""The self-test that ships with the package: it holds here, and it would notice if it did not."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from sandbox_kernel import selftest


@pytest.mark.skipif(sys.platform != "linux", reason="the filter is Linux's")
def test_every_attempt_of_the_selftest_fails_to_break_out() -> None:
    checks = selftest.run_selftest()
    assert [check for check in checks if not check.holds] == []
    assert len(checks) == 13


@pytest.mark.skipif(sys.platform != "linux", reason="the filter is Linux's")
def test_the_doctor_says_so_and_exits_well() -> None:
    done = subprocess.run([sys.executable, "-m", "sandbox_kernel", "doctor"], capture_output=True,
                          text=True, timeout=120, check=False)  # fmt: skip
    assert (done.returncode, done.stderr) == (0, "")
    assert "isolation: seccomp" in done.stdout
    assert done.stdout.splitlines()[-1].endswith("attempts to break out, 0 succeeded")


@pytest.mark.skipif(sys.platform != "linux", reason="the filter is Linux's")
def test_the_doctor_tells_it_as_json_too() -> None:
    command = [sys.executable, "-m", "sandbox_kernel", "doctor", "--json"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    facts = json.loads(done.stdout)
    assert (facts["isolation"], facts["limits"]["spares"]) == ("seccomp", 4)
    assert {check["holds"] for check in facts["checks"]} == {True}


def test_an_unknown_command_is_told_how_it_is_used() -> None:
    command = [sys.executable, "-m", "sandbox_kernel", "docter"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == "sandbox-kernel: unknown command docter; did you mean doctor?\n"


def test_an_attempt_that_is_not_stopped_is_noticed() -> None:
    """The control: without the filter the same attempt gets through."""
    code = (
        "from sandbox_kernel import selftest; from sandbox_kernel.worker import lockdown;"
        "lockdown.Lockdown.complete = lambda self: None;"
        "selftest.attempt('a locked-down process reads no file')"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, timeout=60, check=False
    )
    assert done.returncode == 0


def test_where_there_is_no_filter_nothing_is_run(monkeypatch: pytest.MonkeyPatch) -> None:
    """Not even sent: a worker would have begun before its isolation level could be refused."""
    from sandbox_kernel import run_code
    from sandbox_kernel.engine import Engine, pool
    from sandbox_kernel.errors import IsolationError

    monkeypatch.setattr(pool, "filters_system_calls", lambda: False)
    with Engine(require_isolation=True) as engine, pytest.raises(IsolationError):
        run_code("export default 1", engine=engine)
    with Engine(require_isolation=False) as engine:
        assert run_code("export default 1", engine=engine).wait(30).result == 1
