"""Programs at every level of isolation that this machine offers."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from sandbox_kernel.errors import IsolationError
from sandbox_kernel.programs import ProgramResult, Programs
from sandbox_kernel.programs.levels import LEVELS
from sandbox_kernel.run import run_program

SETTLE_SECONDS = 60
Run = Callable[..., ProgramResult]

if sys.platform != "linux":
    collect_ignore_glob = ["test_*.py"]


@pytest.fixture(scope="session", params=LEVELS)
def programs(request: pytest.FixtureRequest) -> Iterator[Programs]:
    """One for each level; the sessions's tests share them."""
    with Programs(isolation=request.param, spares=1) as made:
        try:
            made.doctor()
        except IsolationError as error:
            pytest.skip(str(error))
        yield made


@pytest.fixture(scope="session")
def level(programs: Programs) -> str:
    return str(programs.isolation)


@pytest.fixture(scope="session")
def run(programs: Programs) -> Run:
    """`run(code, **options)`: the settled result of a real program."""

    def settled(code: str, settle_seconds: float = SETTLE_SECONDS, **options: Any) -> ProgramResult:
        return run_program(code, engine=programs, **options).wait(settle_seconds)

    return settled
