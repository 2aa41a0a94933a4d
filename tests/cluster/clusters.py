"""A Dask cluster of real processes, started from the command line: to be killed, stopped, restarted."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Self

import psutil
from distributed import Client
from distributed.security import Security

from sandbox_kernel.cluster import DaskEngine
from tests.waiting import until

ROOT = Path(__file__).parents[2]
_GRACE_SECONDS = 5


class Cluster:
    """`with Cluster(workers=2) as cluster, cluster.engine() as engine: ...`"""

    def __init__(self, *, workers: int = 1, threads: int = 2, tls: Path | None = None) -> None:
        """`tls`: a folder with `certificate`."""
        self._count, self._threads, self._tls = workers, threads, tls
        self.port = _free_port()
        self.address = f"{'tls' if tls else 'tcp'}://127.0.0.1:{self.port}"
        self._folder = tempfile.TemporaryDirectory(prefix="sandbox-cluster-")
        self.scheduler = self.start_scheduler()
        self.workers = [self.start_worker() for _ in range(workers)]

    def start_scheduler(self) -> subprocess.Popen[bytes]:
        where = ["--host", "127.0.0.1", "--port", str(self.port), "--no-dashboard"]
        self.scheduler = self._start("scheduler", *where)
        return self.scheduler

    def start_worker(
        self, *options: str, nanny: bool = False, **environment: str
    ) -> subprocess.Popen[bytes]:
        where = ["--host", "127.0.0.1", "--nthreads", str(self._threads)]
        where.append("--nanny" if nanny else "--no-nanny")
        folder = ["--local-directory", self._folder.name, "--no-dashboard", "--death-timeout", "60"]
        return self._start("worker", self.address, *where, *folder, *options, **environment)

    def _start(self, *command: str, **environment: str) -> subprocess.Popen[bytes]:
        tls = []
        if self._tls is not None:
            tls = ["--protocol", "tls", "--tls-ca-file", f"{self._tls}/cert.pem"]
            tls += ["--tls-cert", f"{self._tls}/cert.pem", "--tls-key", f"{self._tls}/key.pem"]
        with Path(self._folder.name, f"{command[0]}.log").open("ab") as log:
            return subprocess.Popen(
                [
                    sys.executable,
                    "-W",
                    "ignore",
                    "-m",
                    "distributed.cli.dask_" + command[0],
                    *command[1:],
                    *tls,
                ],
                cwd=ROOT,
                env={**os.environ, "PYTHONPATH": str(ROOT), **environment},
                stdout=log,
                stderr=log,
            )

    def mend(self) -> None:
        """As many workers as before, and a scheduler, whatever was done to them."""
        if self.scheduler.poll() is not None:
            self.start_scheduler()
        ready = [worker for worker in self.workers if _is_ready(worker)][: self._count]
        for worker in self.workers:
            if worker not in ready:
                worker.kill()
                worker.wait()
        self.workers = ready + [self.start_worker() for _ in range(self._count - len(ready))]

    @contextmanager
    def client(self) -> Iterator[Client]:
        with connected(self.address, self._tls) as client:
            client.wait_for_workers(max(1, len(self.workers)), timeout=60)
            yield client

    @contextmanager
    def engine(self, **options: Any) -> Iterator[DaskEngine]:
        with self.client() as client, DaskEngine(client, **options) as engine:
            yield engine

    def sandboxes(self) -> list[psutil.Process]:
        """Zygotes, spares, and those that execute something."""
        found = []
        for worker in self.workers:
            try:
                found += psutil.Process(worker.pid).children(recursive=True)
            except psutil.NoSuchProcess:
                continue
        return found

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        # One kind after the other: Dask's workers hang now and then when their scheduler ends with them.
        _end(self.workers)
        _end([self.scheduler])
        self._folder.cleanup()


def _is_ready(process: subprocess.Popen[bytes]) -> bool:
    return process.poll() is None and psutil.Process(process.pid).status() != psutil.STATUS_STOPPED


def connected(address: str, tls: Path | None = None) -> Client:
    options: dict[str, Any] = {}
    if tls is not None:
        options["security"] = Security(
            require_encryption=True,
            tls_ca_file=f"{tls}/cert.pem",
            tls_client_cert=f"{tls}/cert.pem",
            tls_client_key=f"{tls}/key.pem",
        )
    return Client(address, timeout="60s", set_as_default=False, **options)


def certificate(folder: Path) -> Path:
    """One that signs itself, for everybody in a cluster."""
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2",
         "-subj", "/CN=cluster", "-keyout", "key.pem", "-out", "cert.pem"],
        check=True, capture_output=True, cwd=folder,
    )  # fmt: skip
    return folder


def _end(processes: list[subprocess.Popen[bytes]]) -> None:
    for process in processes:
        if process.poll() is None:
            process.send_signal(signal.SIGCONT)
            process.terminate()
    for process in processes:
        try:
            process.wait(_GRACE_SECONDS)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def busy(cluster: Cluster) -> list[psutil.Process]:
    """Sandboxes that compute: they have used more than a moment of processor time just now."""
    before = {process: _processor_time(process) for process in cluster.sandboxes()}
    until(lambda: False, 0.2)
    return [process for process, time in before.items() if _processor_time(process) > time]


def _processor_time(process: psutil.Process) -> float:
    """Less than any if it has ended meanwhile."""
    try:
        return float(process.cpu_times().user)
    except psutil.NoSuchProcess:
        return -1.0
