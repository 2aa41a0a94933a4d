"""Seed 002: the sidecar, "Enabling Code Execution" and "Self-Hosting"."""

from __future__ import annotations

import threading
from collections.abc import Iterator

import pytest

from sandbox_kernel.cli import main
from tests.contract.parts import part
from tests.contract.serving import KEY, Service, ask, serving


def test_execute_health_and_metrics_are_its_contract(service: Service) -> None:
    """POST /execute, authenticated with a shared X-Service-API-Key Bearer token, plus GET /healthz and GET /metrics"""
    answer = ask(
        "POST",
        service.url + "/execute",
        b'{"code": "print(6 * 7)"}',
        {"X-Service-API-Key": f"Bearer {KEY}", "Content-Type": "application/json"},
    )
    assert (answer.status, answer.json["stdout"]) == (200, "42\n")
    assert service.ask("GET", "/healthz", key=None).status == 200
    metrics = service.ask("GET", "/metrics")
    assert metrics.status == 200
    assert b"# TYPE " in metrics.body


@pytest.mark.parametrize("key", [None, "", "wrong", KEY + "x"])
def test_the_sidecar_validates_the_shared_secret(service: Service, key: str | None) -> None:
    """<shared secret> # must match the sidecar's key"""
    answer = service.ask("POST", "/execute", {"code": "print(1)"}, key=key)
    assert (answer.status, answer.json["error"]["code"]) == (401, "unauthorized")


@pytest.mark.parametrize("environment", ["production", "staging", ""])
def test_it_fails_closed_on_startup_without_a_key(
    environment: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """required outside local; fails closed on startup if empty"""
    monkeypatch.setenv("SANDBOX_EXECUTOR_SERVICE_API_KEY", "")
    monkeypatch.setenv("SANDBOX_ENVIRONMENT", environment)
    assert main(["serve", "--listen", "127.0.0.1:0"]) == 2
    complaint = capsys.readouterr().err
    assert "SANDBOX_EXECUTOR_SERVICE_API_KEY" in complaint
    assert "SANDBOX_ENVIRONMENT" in complaint


def test_it_starts_without_a_key_for_development() -> None:
    """The sidecar fails closed on startup if the key is empty outside development / dev / local / test environments."""
    for environment in ("development", "dev", "local", "test"):
        part("service").Settings(environment=environment).check()
    settings = {"SANDBOX_EXECUTOR_SERVICE_API_KEY": "", "SANDBOX_ENVIRONMENT": "development"}
    with serving(**settings) as service:
        answer = service.ask("POST", "/execute", {"code": "print(1)"}, key=None)
        assert answer.json["stdout"] == "1\n"


@pytest.fixture(scope="module")
def configured() -> Iterator[Service]:
    settings = {
        "SANDBOX_EXECUTOR_DEFAULT_TIMEOUT_MS": "300",
        "SANDBOX_EXECUTOR_MAX_TIMEOUT_MS": "2000",
        "SANDBOX_EXECUTOR_MAX_CONCURRENT_JOBS": "1",
    }
    with serving(**settings) as service:
        yield service


def test_the_default_and_the_ceiling_of_the_time_limit_are_settings(configured: Service) -> None:
    """SANDBOX_EXECUTOR_DEFAULT_TIMEOUT_MS=30000 # per-job wall-clock default / SANDBOX_EXECUTOR_MAX_TIMEOUT_MS=60000 # per-job wall-clock ceiling"""
    defaults = part("service").Settings()
    assert (defaults.default_timeout_ms, defaults.max_timeout_ms) == (30_000, 60_000)
    by_default = configured.execute("import time; time.sleep(600)")
    assert by_default["killed"]
    assert "300 ms" in by_default["error"]
    clamped = configured.execute("import time; time.sleep(600)", timeout_ms=60_000)
    assert clamped["killed"]
    assert clamped["duration_ms"] >= 2000


def test_the_server_clamps_the_time_limit_silently(service: Service) -> None:
    """The server clamps this to its maximum; omit to use the server default."""
    answer = service.ask("POST", "/execute", {"code": "print(1)", "timeout_ms": 10**9})
    assert (answer.status, answer.json["stdout"]) == (200, "1\n")


def test_concurrent_jobs_are_bounded(configured: Service) -> None:
    """SANDBOX_EXECUTOR_MAX_CONCURRENT_JOBS=4 # concurrent jobs sharing the container memory budget"""
    assert part("service").Settings().max_concurrent == 4
    statuses: list[int] = []

    def execute() -> None:
        code = {"code": "import time; time.sleep(600)", "timeout_ms": 60_000}
        statuses.append(configured.ask("POST", "/execute", code).status)

    threads = [threading.Thread(target=execute) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert set(statuses) == {200, 503}


def test_the_result_over_http_has_every_field(service: Service) -> None:
    """stdout / stderr … exit_code … duration_ms … killed … oom … output_files"""
    found = service.execute(
        "import sys; print('o'); print('e', file=sys.stderr); open('f', 'w').write('12')",
        files=[{"name": "in", "content": "x"}],
    )
    assert (found["stdout"], found["stderr"], found["exit_code"]) == ("o\n", "e\n", 0)
    assert (found["killed"], found["oom"], found["truncated"]) == (False, False, False)
    assert found["output_files"] == [{"name": "f", "size": 2, "truncated": False}]
    assert found["duration_ms"] > 0
