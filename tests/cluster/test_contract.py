"""The contract on a cluster: suites that know nothing of it, direct, through the scheduler, encrypted.

`make test` takes the core of it; SANDBOX_SOAK_SECONDS (`make soak`) takes everything.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from sandbox_kernel import run_code
from sandbox_kernel.cluster import DaskEngine
from sandbox_kernel.engine import packets
from tests.cluster.clusters import ROOT, Cluster, certificate, connected
from tests.cluster.elsewhere import ADDRESS, TLS
from tests.elsewhere import VARIABLE

_CORE = ["tests/contract/test_2_handle.py"]
_ALL = [
    *("tests/contract/test_2_handle.py", "tests/contract/test_3_5_bridges.py"),
    *("tests/contract/test_3_5_values.py", "tests/contract/test_3_options.py"),
    *("tests/contract/test_4_result.py", "tests/contract/test_6_limitations.py"),
    *("tests/contract/test_7_8_10.py", "tests/contract/test_bad_input.py"),
    *("tests/contract/test_places.py", "tests/contract/test_bridge_errors.py"),
    "tests/contract/test_everyday_results.py",
    *("tests/escapes", "tests/fuzz/test_programs.py", "tests/faults/test_bridges.py"),
]
SOAK = "SANDBOX_SOAK_SECONDS" in os.environ


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    if shutil.which("openssl") is None:
        pytest.skip("certificates are made with openssl")
    return certificate(tmp_path_factory.mktemp("tls"))


@pytest.fixture(scope="module")
def encrypted(folder: Path) -> Iterator[Cluster]:
    with Cluster(workers=1, threads=4, tls=folder) as cluster:
        yield cluster


@pytest.mark.scaled
@pytest.mark.parametrize("way", ["direct", "relayed"])
@pytest.mark.timeout(1200)
def test_the_contract_holds_on_a_cluster(cluster: Cluster, way: str) -> None:
    holds(_ALL if SOAK else _CORE, way, {ADDRESS: cluster.address})


@pytest.mark.scaled
@pytest.mark.timeout(1200)
def test_the_contract_holds_on_an_encrypted_cluster(encrypted: Cluster, folder: Path) -> None:
    holds(_ALL if SOAK else _CORE, "direct", {ADDRESS: encrypted.address, TLS: str(folder)})


def holds(suites: list[str], way: str, environment: dict[str, str]) -> None:
    command = [sys.executable, "-m", "pytest", "-q", "-x", "-p", "tests.elsewhere"]
    command += ["--timeout", "0", *suites]  # the outer test has one for all of them
    where = {VARIABLE: f"tests.cluster.elsewhere:{way}", **environment}
    done = subprocess.run(
        command, env={**os.environ, **where}, cwd=ROOT, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stdout[-5000:] + done.stderr[-2000:]


@pytest.mark.parametrize("direct", [True, False])
def test_everything_of_an_encrypted_cluster_is_encrypted(
    encrypted: Cluster, folder: Path, direct: bool
) -> None:
    with (
        connected(encrypted.address, folder) as client,
        DaskEngine(client, direct=direct) as engine,
    ):
        large = [bytes([n]) * (packets.WINDOW + n) for n in range(3)]
        source = "export default (all) => all.map((data) => back(data))"
        lent = {"back": lambda data: data}
        run = run_code(source, execute={"args": [large]}, globals=lent, engine=engine)
        assert [bytes(each) for each in run.wait(60).unwrap()] == large
        channels = list(engine._slotting._connections.channels.values())
        sockets: list[Any] = [channel.pipe.socket for channel in channels]
        assert [socket.version() for socket in sockets] == ["TLSv1.3"]
