"""/openapi.json is true: schemathesis holds the real process to it."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from sandbox_kernel.service.handlers import ROUTES
from tests.contract.serving import KEY, Service, serving
from tests.service.talking import SOAK_SECONDS

# Each field at its bounds and beyond; when there is time also what is random, fifty of each kind.
_KINDS = ["-n", "50"] if SOAK_SECONDS else ["--phases", "examples,coverage"]


@pytest.mark.scaled
def test_schemathesis_finds_no_failure(service: Service, tmp_path: Path) -> None:
    command = [sys.executable, "-m", "schemathesis.cli", "run", f"{service.url}/openapi.json"]
    options = ["-H", f"Authorization: Bearer {KEY}", *_KINDS, "--no-color"]
    options += ["--suppress-health-check", "all", "--generation-deterministic"]
    found = subprocess.run([*command, *options], cwd=tmp_path, capture_output=True, text=True)
    assert found.returncode == 0, found.stdout[-5000:]
    assert "Coverage" in found.stdout
    assert "5xx" not in found.stdout


def test_every_route_is_described(service: Service) -> None:
    paths = service.ask("GET", "/openapi.json").json["paths"]
    routes = {handler.route for _, handler in ROUTES} | {"/healthz"}
    assert set(paths) == routes


def test_without_a_key_no_security_is_described() -> None:
    settings = {"SANDBOX_EXECUTOR_SERVICE_API_KEY": "", "SANDBOX_ENVIRONMENT": "test"}
    with serving(**settings) as service:
        document = service.ask("GET", "/openapi.json", key=None).json
    assert "security" not in document
    assert "401" not in document["paths"]["/execute"]["post"]["responses"]
