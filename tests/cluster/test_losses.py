"""What is lost on the way: Dask workers, the scheduler, the client. Nothing twice, nothing left."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from typing import Any

import psutil
import pytest
from distributed import Client

from sandbox_kernel import run_code, run_many
from sandbox_kernel.cluster import DaskEngine
from tests.cluster.clusters import ROOT, Cluster, busy, connected
from tests.waiting import until

SOAK = "SANDBOX_SOAK_SECONDS" in os.environ
KILLS, INPUTS = (20, 10_000) if SOAK else (1, 200)


def busy_worker(cluster: Cluster) -> subprocess.Popen[bytes]:
    """The Dask worker whose sandbox computes."""
    found: list[psutil.Process] = []
    assert until(lambda: found.extend(busy(cluster)) or found)
    ancestors = {parent.pid for parent in found[0].parents()}
    return next(worker for worker in cluster.workers if worker.pid in ancestors)


def tasks(client: Client) -> int:
    """That the scheduler knows of, whoever's they are."""
    return int(client.run_on_scheduler(lambda dask_scheduler: len(dask_scheduler.tasks)))


def error_of(result: Any) -> tuple[str, str]:
    assert result.error is not None, result
    return result.error.name, result.error.message


def test_a_silent_run_begins_again_on_another_worker(breakable: Cluster) -> None:
    called: list[int] = []
    source = "for (let i = 0; i < 1e8; i++); export default done()"
    with breakable.engine() as engine:
        run = run_code(source, globals={"done": lambda: called.append(1) or 7}, engine=engine)
        busy_worker(breakable).kill()
        result = run.wait(120)
    assert (result.status, result.result, called) == ("success", 7, [1])


def test_a_silent_run_of_a_stopped_worker_speaks_elsewhere_and_once(breakable: Cluster) -> None:
    """Also if that worker goes on later: its sandbox has nobody to speak to, and ends."""
    called: list[int] = []
    source = "for (let i = 0; i < 1e8; i++); export default done()"
    with breakable.engine(patience=2.0) as engine:
        run = run_code(source, globals={"done": lambda: called.append(1) or 7}, engine=engine)
        worker = busy_worker(breakable)
        worker.send_signal(signal.SIGSTOP)
        result = run.wait(120)
        worker.send_signal(signal.SIGCONT)
        assert until(lambda: not busy(breakable))
        assert (result.status, result.result, called) == ("success", 7, [1])


def test_a_run_that_has_spoken_is_lost_with_its_worker(breakable: Cluster) -> None:
    called: list[int] = []
    source = "called(1); for (;;);"
    with breakable.engine() as engine:
        run = run_code(source, globals={"called": called.append}, engine=engine)
        assert until(lambda: called)
        busy_worker(breakable).kill()
        result = run.wait(60)
        name, message = error_of(result)
        assert (result.status, name, called) == ("error", "WorkerLost", [1])
        assert message.startswith("the Dask worker tcp://127.0.0.1:")
        assert run_code("export default 1", engine=engine).wait(60).result == 1


def test_a_run_that_no_worker_has_begun_is_not_lost_with_one(breakable: Cluster) -> None:
    """Both are stopped when the run is asked for; then one is killed, and the other goes on."""
    with breakable.engine() as engine:
        lost, kept = breakable.workers
        for worker in (lost, kept):
            worker.send_signal(signal.SIGSTOP)
        called: list[int] = []
        lent = {"called": called.append}
        runs = [run_code("export default called(1)", globals=lent, engine=engine) for _ in range(4)]
        assert until(lambda: tasks(engine.client) == 4)
        lost.kill()
        kept.send_signal(signal.SIGCONT)
        assert [run.wait(120).status for run in runs] == ["success"] * 4
        assert called == [1] * 4


def test_a_result_on_its_way_counts(breakable: Cluster) -> None:
    """The worker is killed after it has said everything, and before that was heard."""
    heard, may_go_on = threading.Event(), threading.Event()

    def sink(value: Any) -> None:
        heard.set()
        assert may_go_on.wait(60)

    with breakable.engine() as engine:
        run = run_code("report(1); export default 5", report=sink, engine=engine)
        assert heard.wait(60)
        for _ in range(20):  # by the time these are over, so is that one's guest
            assert run_code("export default 1", engine=engine).wait(60).result == 1
        for worker in breakable.workers:
            worker.kill()
            worker.wait()
        assert until(lambda: not engine._slotting._connections.channels)
        may_go_on.set()
        result = run.wait(60)
    assert (result.status, result.result, result.reports) == ("success", 5, [1])


def test_a_worker_that_is_stopped_is_lost_after_a_while(breakable: Cluster) -> None:
    with breakable.engine(patience=2.0) as engine:
        spoken: list[int] = []
        run = run_code("called(1); for (;;);", globals={"called": spoken.append}, engine=engine)
        assert until(lambda: spoken)
        worker = busy_worker(breakable)
        worker.send_signal(signal.SIGSTOP)
        assert error_of(run.wait(60))[0] == "WorkerLost"
        assert run_code("export default 1", engine=engine).wait(60).result == 1


def test_terminate_settles_although_the_worker_is_stopped(breakable: Cluster) -> None:
    with breakable.engine() as engine:
        run = run_code("report(1); for (;;);", report=lambda value: None, engine=engine)
        assert until(lambda: run.reports)
        busy_worker(breakable).send_signal(signal.SIGSTOP)
        run.terminate("enough")
        assert error_of(run.wait(60)) == ("Terminated", "enough")


def test_a_cancelled_task_ends_its_run_and_its_sandbox(breakable: Cluster) -> None:
    with breakable.client() as client, DaskEngine(client) as engine:
        run = run_code("report(1); for (;;);", report=lambda value: None, engine=engine)
        assert until(lambda: run.reports)
        (slot,) = engine._slotting._slots.values()
        slot.future.cancel(force=True)
        result = run.wait(60)
        assert (result.status, error_of(result)[1]) == ("terminated", "the Dask task was cancelled")
        assert until(lambda: not busy(breakable))


def test_a_restart_of_the_cluster_ends_runs_and_later_ones_work(breakable: Cluster) -> None:
    for worker in breakable.workers:
        worker.kill()
        worker.wait()
    breakable.workers = [breakable.start_worker(nanny=True)]
    with breakable.client() as client, DaskEngine(client) as engine:
        run = run_code("report(1); for (;;);", report=lambda value: None, engine=engine)
        assert until(lambda: run.reports)
        client.restart(timeout=60)
        result = run.wait(60)
        assert (result.status, error_of(result)[1]) == ("terminated", "the Dask task was cancelled")
        assert run_code("export default 1", engine=engine).wait(60).result == 1
    (nanny,) = breakable.workers
    nanny.terminate()  # it ends its worker too
    nanny.wait()


HOST = """
from distributed import Client
from sandbox_kernel import run_code
from sandbox_kernel.cluster import DaskEngine
client = Client({address!r})
engine = DaskEngine(client, patience=2.0)
run = run_code("report(1); for (;;);", report=lambda v: print("up", flush=True), engine=engine)
input()
"""


def test_a_client_that_is_killed_exits_or_is_stopped_leaves_no_busy_sandbox(
    breakable: Cluster,
) -> None:
    command = [sys.executable, "-W", "ignore", "-c", HOST.format(address=breakable.address)]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    hosts = [
        subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=ROOT, env=environment
        )
        for _ in range(3)
    ]
    killed, exits, stopped = hosts
    try:
        for host in hosts:
            assert host.stdout is not None
            assert host.stdout.readline() == b"up\n"
        killed.kill()
        exits.communicate(b"\n", timeout=60)
        stopped.send_signal(signal.SIGSTOP)
        assert until(lambda: not busy(breakable))
    finally:
        for host in hosts:
            host.kill()
            host.communicate()
    with breakable.engine() as engine:
        assert run_code("export default 1", engine=engine).wait(60).result == 1
        assert until(lambda: not tasks(engine.client))


def test_a_scheduler_that_is_killed_ends_runs_and_its_successor_serves(breakable: Cluster) -> None:
    with breakable.client() as client, DaskEngine(client) as engine:
        run = run_code("report(1); for (;;);", report=lambda value: None, engine=engine)
        assert until(lambda: run.reports)
        breakable.scheduler.kill()
        breakable.scheduler.wait()
        assert error_of(run.wait(120))[0] == "WorkerLost"
        assert until(lambda: not breakable.sandboxes(), 60)
        for worker in breakable.workers:
            worker.kill()  # if it has not yet ended by itself
            worker.wait()
        queued = run_code("export default 5", engine=engine)
        breakable.mend()
        result = queued.wait(120)
        assert result.result == 5, result


def test_a_worker_that_joins_later_is_waited_for(breakable: Cluster) -> None:
    with breakable.engine(resources={"late": 1}) as engine:
        run = run_code("export default 3", engine=engine)
        breakable.workers.append(breakable.start_worker("--resources", "late=1"))
        assert run.wait(120).result == 3


@pytest.mark.scaled
@pytest.mark.timeout(3600)
@pytest.mark.parametrize("isolate", ["item", "batch"])
def test_each_input_is_answered_once_while_workers_are_killed(
    breakable: Cluster, isolate: Any
) -> None:
    """One is killed whenever so many inputs were taken, with runs under way, and replaced meanwhile.

    10,000 inputs and 20 workers in `make soak`."""
    killed = hit = 0
    between = INPUTS // KILLS

    with breakable.client() as client, DaskEngine(client, retries=20) as engine:
        slotting = engine._slotting
        forget = slotting._connections._on_lost

        def on_lost(channel: Any) -> None:
            nonlocal hit
            hit += any(
                slot.channel is channel and slot.worker is not None
                for slot in slotting._slots.values()
            )
            forget(channel)

        slotting._connections._on_lost = on_lost

        def inputs() -> Iterator[int]:
            nonlocal killed
            for n in range(INPUTS):
                if n % between == 0:
                    assert until(lambda: len(client.nthreads()) == 2, 60)
                if n % between == between // 2:
                    victim = breakable.workers.pop(0)
                    victim.kill()
                    victim.wait()
                    breakable.workers.append(breakable.start_worker())
                    killed += 1
                yield n

        source = (
            "export default (n) => { if (n % 50 === 7) throw new RangeError('' + n); return n }"
        )
        batch = 10 if isolate == "batch" else None
        many = run_many(source, inputs(), isolate=isolate, batch=batch, engine=engine)
        answers = [r.result if r.error is None else r.error.message for r in many]
    assert answers == [n if n % 50 != 7 else str(n) for n in range(INPUTS)]
    assert killed == KILLS
    assert hit >= KILLS // 2  # the others had nothing to do just then


@pytest.mark.parametrize("isolate", ["item", "batch"])
def test_leaving_the_loop_leaves_nothing_on_the_cluster(breakable: Cluster, isolate: Any) -> None:
    with breakable.engine() as engine:
        many = run_many(
            "export default (n) => { if (n) for (;;); }",
            range(50),
            isolate=isolate,
            batch=1,
            engine=engine,
        )
        for _ in many:
            break
        assert until(lambda: not busy(breakable))
        assert until(lambda: not engine.executing)


@pytest.mark.soak
@pytest.mark.timeout(300)
def test_a_cluster_that_scales_from_nothing_and_back() -> None:
    from distributed import LocalCluster

    options: dict[str, Any] = {"n_workers": 0, "threads_per_worker": 1, "host": "127.0.0.1"}
    with (
        LocalCluster(**options, dashboard_address=":0") as local,
        Client(local, set_as_default=False) as client,
        DaskEngine(client) as engine,
    ):
        local.adapt(minimum=0, maximum=2, interval="200ms", wait_count=3)
        for _ in range(2):
            many = run_many("export default (n) => n", range(50), engine=engine)
            assert [result.result for result in many] == list(range(50))
            assert until(lambda: not client.nthreads(), 120)


@pytest.mark.soak
def test_a_cluster_may_limit_the_wait_for_workers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DASK_DISTRIBUTED__SCHEDULER__NO_WORKERS_TIMEOUT", "1s")
    with (
        Cluster(workers=0) as cluster,
        connected(cluster.address) as client,
        DaskEngine(client) as engine,
    ):
        name, message = error_of(run_code("export default 1", engine=engine).wait(60))
    assert name == "EngineError"
    assert "no sandbox on the cluster" in message
