"""What every test may use: a run that must settle, on the real engine."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import settings

from sandbox_kernel import CodeExecutionResult, run_code

pytest_plugins = ["tests.packaging.installed"]

SETTLE_SECONDS = 60

# CI tries the same examples every time; everybody else tries new ones.
settings.register_profile("ci", derandomize=True, deadline=None)
settings.register_profile("dev", deadline=None)
settings.load_profile("ci" if os.environ.get("CI") else "dev")

# What a shell starts in the background ignores Ctrl-C, and so would all that the tests start.
signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(scope="session")
def run() -> Callable[..., CodeExecutionResult]:
    """`run(source, **options)`: the settled result of a real run."""

    def settled(source: str, **options: Any) -> CodeExecutionResult:
        return run_code(source, **options).wait(SETTLE_SECONDS)

    return settled


@pytest.fixture(scope="session")
def value(run: Callable[..., CodeExecutionResult]) -> Callable[..., Any]:
    """`value(source, **options)`: the result of a run that must succeed."""

    def of(source: str, **options: Any) -> Any:
        result = run(source, **options)
        assert result.status == "success", result.error
        return result.result

    return of


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Browser tests last: Playwright leaves its event loop running in the main thread.

    They alone are tried again: on a busy machine a page meets races that are not ours.
    """
    items.sort(key=lambda item: "browser" in item.path.parts)
    for item in items:
        if "browser" in item.path.parts:
            item.add_marker(pytest.mark.flaky(reruns=2, reruns_delay=1))
