from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from sandbox_kernel.contract import CodeExecutionResult
from sandbox_kernel.engine import Engine, spawn
from sandbox_kernel.run import run_code

_BOOT = (
    "import sys; sys.path[:0] = {paths!r};"
    " from tests.hostile_worker.taken import main; main({fd}, {cpu})"
)
Attack = Callable[..., CodeExecutionResult]


@contextmanager
def engine_of_taken_workers(**settings: Any) -> Iterator[Engine]:
    """An engine all of whose workers are in the attacker's hands; its zygote starts now."""
    with pytest.MonkeyPatch.context() as patch, Engine(**settings) as engine:
        patch.setattr(spawn, "_BOOT", _BOOT)
        engine.warm_up()
        yield engine


@pytest.fixture(scope="module")
def taken() -> Iterator[Engine]:
    with engine_of_taken_workers(spares=2) as engine:
        yield engine


@pytest.fixture
def attack(taken: Engine) -> Attack:
    """Runs Python inside a taken worker, after its lockdown."""

    def run(python: str, **options: Any) -> CodeExecutionResult:
        return run_code(python, engine=taken, report=lambda value: None, **options).wait(60)

    return run
