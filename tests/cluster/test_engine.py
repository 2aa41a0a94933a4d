"""Runs on a cluster, as its user sees them."""

from __future__ import annotations

import asyncio
import os
import re
import threading
from pathlib import Path
from typing import Any

import psutil
import pytest
from distributed import Client

from sandbox_kernel import (
    EngineClosedError,
    EngineError,
    OptionError,
    open_code,
    run_code,
    run_many,
)
from sandbox_kernel.cluster import DaskEngine
from sandbox_kernel.engine import packets
from tests.cluster.clusters import Cluster, connected
from tests.waiting import until


@pytest.fixture(scope="module", params=["direct", "relayed"])
def engine(request: pytest.FixtureRequest, cluster: Cluster) -> Any:
    with cluster.engine(direct=request.param == "direct") as engine:
        yield engine


def test_a_run_calls_what_it_was_lent_here(engine: DaskEngine) -> None:
    called: list[tuple[int, int]] = []

    def add(a: int, b: int) -> int:
        called.append((a, b))
        return a + b

    source = "report({ at: 1 }); console.log('x'); export default add(1, 2)"
    reports: list[Any] = []
    run = run_code(source, globals={"add": add}, report=reports.append, engine=engine)
    result = run.wait(60)
    assert (result.status, result.result, reports) == ("success", 3, [{"at": 1}])
    assert [log.args for log in result.logs] == [("x",)]
    assert called == [(1, 2)]


async def test_guest_functions_promises_and_open_modules_cross(engine: DaskEngine) -> None:
    async def twice(f: Any) -> Any:
        return await f(2)

    source = "export default await twice(async (n) => n * 21)"
    assert (await run_code(source, globals={"twice": twice}, engine=engine)).result == 42
    async with open_code("export const f = (n) => n + 1", engine=engine) as module:
        assert [await module.f(n) for n in range(5)] == [1, 2, 3, 4, 5]


def test_terminate_ends_a_run_wherever_it_is(engine: DaskEngine) -> None:
    run = run_code("report(1); for (;;);", report=lambda value: None, engine=engine)
    assert until(lambda: run.reports)
    run.terminate("enough")
    result = run.wait(60)
    assert (result.status, str(result.error)) == ("terminated", "Terminated: enough")


def test_data_of_sizes_around_the_windows_crosses_both_ways(engine: DaskEngine) -> None:
    edges = (packets.LARGEST, packets.WINDOW, 5 << 20)
    sizes = [edge + more for edge in edges for more in (-1, 0, 1)]
    sent = [bytes([n]) * size for n, size in enumerate(sizes)]
    lent = {"back": lambda data: data}
    source = "export default (all) => all.map((data) => back(data))"
    run = run_code(source, execute={"args": [sent]}, globals=lent, engine=engine)
    assert [bytes(each) for each in run.wait(60).unwrap()] == sent


async def test_many_runs_at_once_have_their_own_results(engine: DaskEngine) -> None:
    runs = [run_code(f"export default {n}", engine=engine) for n in range(60)]
    assert [(await run).result for run in runs] == list(range(60))


@pytest.mark.parametrize("isolate", ["item", "batch"])
def test_many_inputs(engine: DaskEngine, isolate: Any) -> None:
    many = run_many("export default (n) => n * n", range(60), isolate=isolate, engine=engine)
    assert [result.result for result in many] == [n * n for n in range(60)]


async def test_nested_runs_settle_with_one_slot(cluster: Cluster) -> None:
    """Each waits for the next, and the cluster's only slot of this engine is the first one's."""
    with cluster.engine(concurrency=1) as engine:

        async def inner(depth: int) -> Any:
            lent = {"inner": inner}
            source = f"export default {depth} ? await inner({depth} - 1) : 'deep'"
            return (await run_code(source, globals=lent, engine=engine)).unwrap()

        assert await asyncio.wait_for(inner(4), 60) == "deep"


async def test_nested_runs_take_turns_on_their_carrier(cluster: Cluster) -> None:
    with cluster.engine(concurrency=1) as engine:

        async def inner(n: int) -> Any:
            return (await run_code(f"export default {n}", engine=engine)).unwrap()

        source = "export default await Promise.all([inner(1), inner(2), inner(3)])"
        result = await asyncio.wait_for(
            run_code(source, globals={"inner": inner}, engine=engine), 60
        )
        assert result.result == [1, 2, 3]


def test_a_batch_that_dies_is_halved_until_the_culprit_stands_alone(cluster: Cluster) -> None:
    source = (
        "export default (n) => { if (n === 13) { const a = []; for (;;) a.push([a]) } return n }"
    )
    with cluster.engine() as engine:
        many = run_many(source, range(32), isolate="batch", batch=32, engine=engine)
        statuses = [result.status for result in many]
    assert statuses == ["memory" if n == 13 else "success" for n in range(32)]


def test_another_client_waits_for_slices_and_not_for_a_flood(cluster: Cluster) -> None:
    """Runs of a tenth of a second on all threads, without end; a slice is half a second.

    The bound is a number of runs, since a slow machine slows all of them: three slices of all threads.
    """
    seconds, slice_seconds, threads = 0.1, 0.5, 8
    source = f"export default () => {{ const end = Date.now() + {seconds * 1000}; while (Date.now() < end); }}"
    with cluster.engine(slice=slice_seconds) as flood, cluster.engine() as other:
        assert run_code("export default 1", engine=other).wait(60).result == 1
        flooding = run_many(source, iter(int, 1), engine=flood)
        thread = threading.Thread(target=list, args=(flooding,))
        thread.start()
        try:
            assert until(lambda: flooding.done > 2 * threads, 60)
            before = flooding.done
            assert run_code("export default 2", engine=other).wait(60).result == 2
            waited = flooding.done - before
        finally:
            flooding.terminate()
            thread.join(60)
    assert waited <= threads * 3 * slice_seconds / seconds


def test_engines_on_one_worker_have_limits_of_their_own(cluster: Cluster) -> None:
    with cluster.client() as client:
        where = min(client.scheduler_info(n_workers=-1)["workers"])
        with (
            DaskEngine(client, workers=where) as usual,
            DaskEngine(client, workers=where, cpu_seconds=1) as strict,
        ):
            assert run_code("export default 1", engine=usual).wait(60).result == 1
            result = run_code("for (;;);", engine=strict).wait(60)
            assert run_code("export default 1", engine=usual).wait(60).result == 1
    assert result.status == "terminated"
    assert "more than 1 s of processor time" in str(result.error)


def test_sandboxes_go_first_where_memory_runs_out(cluster: Cluster) -> None:
    with cluster.engine() as engine:
        assert run_code("export default 1", engine=engine).wait(60).result == 1
        adjusted = {
            Path(f"/proc/{each.pid}/oom_score_adj").read_text() for each in sandboxes(cluster)
        }
    assert adjusted == {"1000\n"}


def sandboxes(cluster: Cluster) -> list[Any]:
    """Those that live a moment longer."""
    return [each for each in cluster.sandboxes() if each.is_running()]


@pytest.mark.scaled
@pytest.mark.timeout(1800)
def test_memory_stays_flat_over_many_inputs(cluster: Cluster) -> None:
    """A million in `make soak`: once all is warm, nothing grows."""
    count = 1_000_000 if "SANDBOX_SOAK_SECONDS" in os.environ else 20_000
    processes = [cluster.scheduler.pid, *(worker.pid for worker in cluster.workers), os.getpid()]

    def resident() -> int:
        return sum(psutil.Process(pid).memory_info().rss for pid in processes)

    with cluster.engine() as engine:
        many = run_many(
            "export default (n) => n", iter(range(count)), isolate="batch", engine=engine
        )
        early = 0
        for index, result in enumerate(many):
            assert result.result == index
            if index == count // 4:
                early = resident()
        grown = resident() - early
    assert many.done == count
    assert grown < 64 << 20


def test_the_doctor_tells_of_each_worker(cluster: Cluster) -> None:
    with cluster.engine() as engine:
        assert run_code("export default 1", engine=engine).wait(60).result == 1
        told = engine.doctor()
    assert len(told["workers"]) == 2
    assert all(
        worker["usable"] and worker["isolation"] == "seccomp" for worker in told["workers"].values()
    )
    assert "directly" in {worker["reached"] for worker in told["workers"].values()}


def test_closing_the_engine_ends_its_runs(cluster: Cluster) -> None:
    with cluster.client() as client:
        engine = DaskEngine(client)
        run = run_code("report(1); for (;;);", report=lambda value: None, engine=engine)
        assert until(lambda: run.reports)
        assert engine.runs() == [run]
        engine.close()
        result = run.wait(60)
        assert (result.status, str(result.error)) == (
            "terminated",
            "Terminated: the engine was closed",
        )
        with pytest.raises(EngineClosedError, match="the engine is closed"):
            run_code("export default 1", engine=engine)


def test_a_closed_client_is_a_clear_error(cluster: Cluster) -> None:
    with cluster.client() as client:
        engine = DaskEngine(client)
    with pytest.raises(EngineClosedError, match="the Dask client is closed"):
        run_code("export default 1", engine=engine)
    with pytest.raises(EngineClosedError, match="the Dask client is closed"):
        engine.doctor()
    with pytest.raises(EngineClosedError, match="the Dask client is closed"):
        DaskEngine(client)


def test_a_client_that_is_closed_ends_its_runs_and_those_that_wait(cluster: Cluster) -> None:
    client = connected(cluster.address)
    engine = DaskEngine(client, concurrency=1)
    first = run_code("report(1); for (;;);", report=lambda value: None, engine=engine)
    assert until(lambda: first.reports)
    waiting = [run_code("export default 1", engine=engine) for _ in range(5)]
    client.close()
    assert first.wait(60).status in ("terminated", "error")
    assert {str(run.wait(60).error) for run in waiting} == {
        "Terminated: the Dask client was closed"
    }


def test_a_client_that_is_closed_before_there_is_a_worker_ends_what_waits() -> None:
    with Cluster(workers=0) as empty:
        client = connected(empty.address)
        engine = DaskEngine(client)
        waiting = [run_code("export default 1", engine=engine) for _ in range(9)]
        client.close()
        assert {run.wait(60).status for run in waiting} == {"terminated"}


async def test_with_an_asynchronous_client_nothing_blocks_its_loop(cluster: Cluster) -> None:
    async with Client(cluster.address, asynchronous=True, set_as_default=False) as client:
        with DaskEngine(client) as engine:
            many = run_many("export default (n) => n * n", range(5), engine=engine)
            assert [result.result async for result in many] == [0, 1, 4, 9, 16]
            with pytest.raises(RuntimeError, match="use async for"):
                list(run_many("export default 1", range(5), engine=engine))
            with pytest.raises(EngineError, match="a client that is synchronous"):
                engine.doctor()


def test_it_takes_a_client_and_nothing_else() -> None:
    with pytest.raises(OptionError, match=r"client must be a distributed.Client, not str"):
        DaskEngine("tcp://127.0.0.1:8786")  # type: ignore[arg-type]  # that is the mistake


@pytest.mark.parametrize(
    ("option", "message"),
    [
        ({"concurrency": 0}, "concurrency must be a whole number from 1 on, or None, not 0"),
        ({"concurrency": "2"}, "concurrency must be"),
        ({"retries": -1}, "retries must be a whole number from 0 on, not -1"),
        ({"retries": True}, "retries must be"),
        ({"keep": "long"}, "keep must be a number of seconds, not 'long'"),
        ({"slice": float("nan")}, "slice must be"),
        ({"direct": "yes"}, "direct must be True, False or None, not 'yes'"),
        ({"resources": ["sandbox"]}, "resources must be names and amounts"),
        ({"resources": {"sandbox": -1}}, "resources must be names and amounts"),
        ({"priority": "high"}, "priority must be a whole number, not 'high'"),
        ({"workers": 5}, "workers must be names or addresses of workers, or None, not 5"),
        ({"spares": -1}, "spares must be"),
        ({"patience": 0}, "patience must be a number of seconds above 0, not 0"),
        ({"default_memory_limit_bytes": "64 MiB"}, "default_memory_limit_bytes must be"),
        ({"cpu_seconds": 0.5}, "cpu_seconds must be a whole number from 1 on, not 0.5"),
        ({"require_isolation": "no"}, "require_isolation must be True or False, not 'no'"),
    ],
)
def test_an_option_that_cannot_be_is_refused_at_once(option: dict[str, Any], message: str) -> None:
    """Not by runs that wait for ever, or by workers that cannot be used."""

    class Unconnected(Client):
        def __init__(self) -> None:
            """It is not asked for anything."""

        def __del__(self) -> None:
            """Nothing was opened."""

    with pytest.raises(OptionError, match=re.escape(message)):
        DaskEngine(Unconnected(), **option)


def test_the_front_door_of_dask_is_not_opened_by_ours() -> None:
    import subprocess
    import sys

    code = "import sys, sandbox_kernel.cluster; print('distributed' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"


def test_an_unencrypted_cluster_elsewhere_is_warned_about() -> None:
    from sandbox_kernel.cluster.engine import _warn_about

    class Elsewhere(Client):
        def __init__(self) -> None:
            self.scheduler = type("", (), {"address": "tcp://10.0.0.5:8786"})()

        def __del__(self) -> None:
            """Nothing was opened."""

    with pytest.warns(UserWarning, match="is not encrypted: use tls://"):
        _warn_about(Elsewhere())
