"""Dask workers that cannot be used are refused, with both sides named; never another isolation."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from sandbox_kernel import run_code
from sandbox_kernel.cluster import DaskEngine
from tests.cluster.clusters import Cluster

# What makes a worker unusable, and what is said about it.
PROBLEMS = {
    "version": (
        "import sandbox_kernel\nsandbox_kernel.__version__ = '9.9.9'\n",
        "sandbox-kernel 9.9.9",
    ),
    "python": (
        "from sandbox_kernel.cluster import fingerprint\n"
        "mark = fingerprint.fingerprint()\n"
        "fingerprint.fingerprint.__code__ = (lambda: [*mark[:-1], 99]).__code__\n"
        "fingerprint.mark = mark\n",
        "on Python 3.99",
    ),
    "package": ("import sys\nsys.modules['sandbox_kernel'] = None\n", "sandbox_kernel"),
    "filter": (
        "from sandbox_kernel.engine import relay\nrelay.filters_system_calls = lambda: False\n",
        "no system-call filter on",
    ),
}


@pytest.fixture(scope="module")
def unusable(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    """A worker for each problem, of that name."""
    folder = tmp_path_factory.mktemp("preloaded")
    with Cluster(workers=0) as cluster:
        for name, (preloaded, _) in PROBLEMS.items():
            (folder / f"{name}.py").write_text(preloaded)
            options = ("--name", name, "--preload", str(folder / f"{name}.py"))
            cluster.workers.append(cluster.start_worker(*options))
        yield cluster


@pytest.mark.parametrize("problem", PROBLEMS)
def test_a_worker_that_cannot_be_used_is_refused(unusable: Cluster, problem: str) -> None:
    with unusable.engine(patience=5.0, workers=[problem]) as engine:
        result = run_code("export default 1", engine=engine).wait(120)
        assert result.error is not None, result
        assert (result.status, result.error.name) == ("error", "EngineError")
        assert PROBLEMS[problem][1] in result.error.message
        if problem != "filter":
            assert "here is sandbox-kernel 0." in result.error.message


def test_the_doctor_tells_which_cannot_be_used(unusable: Cluster) -> None:
    with unusable.client() as client, DaskEngine(client) as engine:
        told = engine.doctor()["workers"]
        assert len(told) == len(PROBLEMS)
        problems = [worker["problem"] for worker in told.values() if "problem" in worker]
        assert sum("sandbox_kernel" in problem for problem in problems) == 1
        assert sum(worker["usable"] for worker in told.values()) == 1  # isolation is told as it is
