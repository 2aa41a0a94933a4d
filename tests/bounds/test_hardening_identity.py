"""A worker has no rights of its host's: not its user, not its groups, not one capability."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from typing import Any

import pytest

from sandbox_kernel.isolation.identity import KILL, NOBODY, SETGID, SETUID, Identity
from tests.bounds import identity

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="capabilities are Linux's")
as_full_root = pytest.mark.skipif(
    not Identity.of("self").can_host_nobody, reason="takes root with its usual capabilities"
)
NONE = ["0000000000000000"]
WITHOUT_CAPABILITIES = "root without capabilities"


@pytest.fixture(scope="module")
def worker() -> dict[str, Any]:
    return identity.of_a_worker()


@pytest.mark.parametrize("which", ["CapInh", "CapPrm", "CapEff", "CapAmb"])
def test_a_worker_has_no_capabilities(worker: dict[str, Any], which: str) -> None:
    assert worker[which] == NONE


@as_full_root
def test_no_program_that_it_started_could_have_capabilities(worker: dict[str, Any]) -> None:
    assert (worker["CapBnd"], worker["NoNewPrivs"]) == (NONE, ["1"])


@as_full_root
@pytest.mark.parametrize("which", ["Uid", "Gid"])
def test_a_worker_of_root_is_nobody(worker: dict[str, Any], which: str) -> None:
    assert worker[which] == [str(NOBODY)] * 4
    assert worker["doctor"] == "nobody"


@as_full_root
@pytest.mark.skipif(shutil.which("setpriv") is None, reason="takes setpriv")
def test_a_worker_of_root_is_in_no_group() -> None:
    assert elsewhere("setpriv", "--groups", "4,5")["Groups"] == []


@as_full_root
def test_the_zygote_keeps_what_it_takes_to_make_and_end_nobody(worker: dict[str, Any]) -> None:
    assert worker["zygote"] == [1 << SETUID | 1 << SETGID | 1 << KILL, 0]


@as_full_root
def test_its_memory_is_limited_all_the_same(worker: dict[str, Any]) -> None:
    (limit,) = [line for line in worker["limits"].splitlines() if "address space" in line]
    assert "unlimited" not in limit


def test_the_system_ends_a_worker_before_its_host(worker: dict[str, Any]) -> None:
    assert worker["oom"] == 1000


def elsewhere(*command: str, **options: Any) -> dict[str, Any]:
    """Of a worker of another host process."""
    done = subprocess.run(
        [*command, sys.executable, "-m", "tests.bounds.identity", *options.pop("args", ())],
        capture_output=True,
        timeout=60,
        **options,
    )
    if done.returncode:
        pytest.fail(done.stderr.decode())
    found: dict[str, Any] = json.loads(done.stdout)
    assert found["result"] == 1
    return found


@as_full_root
@pytest.mark.parametrize("missing", [SETUID, KILL])
def test_where_root_may_not_rule_nobody_a_worker_is_root_without_capabilities(missing: int) -> None:
    """It could not be made, or not be killed, as somebody else."""
    worker = elsewhere(args=[str(missing)])
    assert (worker["Uid"], worker["CapEff"], worker["CapPrm"]) == (["0"] * 4, NONE, NONE)
    assert (worker["CapBnd"], worker["doctor"]) == (NONE, WITHOUT_CAPABILITIES)


@as_full_root
@pytest.mark.skipif(shutil.which("unshare") is None, reason="takes unshare")
def test_in_a_namespace_whose_only_user_is_root_a_worker_has_no_capabilities() -> None:
    if subprocess.run(["unshare", "-Ur", "true"], capture_output=True).returncode:
        pytest.skip("user namespaces are not to be had here")
    worker = elsewhere("unshare", "-Ur")
    assert (worker["Uid"], worker["CapEff"], worker["CapBnd"]) == (["0"] * 4, NONE, NONE)
    assert worker["doctor"] == WITHOUT_CAPABILITIES


@as_full_root
@pytest.mark.skipif(shutil.which("setpriv") is None, reason="takes setpriv")
def test_a_worker_of_an_ordinary_user_is_that_user_without_its_capabilities() -> None:
    """The capability lets it read this interpreter, wherever that is."""
    user = ["--reuid", "12345", "--regid", "12345", "--clear-groups"]
    capability = ["--inh-caps", "+dac_override", "--ambient-caps", "+dac_override"]
    worker = elsewhere("setpriv", *user, *capability)
    assert (worker["Uid"], worker["CapInh"], worker["CapAmb"]) == (["12345"] * 4, NONE, NONE)
    assert (worker["CapEff"], worker["CapPrm"], worker["doctor"]) == (NONE, NONE, "the host's")


@as_full_root
@pytest.mark.skipif(shutil.which("setpriv") is None, reason="takes setpriv")
def test_capabilities_go_also_where_they_outlast_a_change_of_user() -> None:
    worker = elsewhere("setpriv", "--securebits", "+no_setuid_fixup")
    assert (worker["Uid"], worker["CapEff"], worker["CapPrm"]) == ([str(NOBODY)] * 4, NONE, NONE)
