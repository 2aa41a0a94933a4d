"""A pytest plugin: everything that names no engine runs elsewhere, and must not know the difference.

    SANDBOX_TESTS_ELSEWHERE=relay python -m pytest -p tests.elsewhere tests/contract

`relay`: through packets to workers of this machine. Others are named `module:function`, which gives a
context manager of the backend.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import AbstractContextManager
from importlib import import_module
from typing import Any

import pytest

from sandbox_kernel import run as running
from tests.hostile_worker import fake

VARIABLE = "SANDBOX_TESTS_ELSEWHERE"
_RELAY = "tests.relaying:RelayBackend"


@pytest.fixture(scope="session", autouse=True)
def everything_runs_elsewhere() -> Iterator[None]:
    with _backend(os.environ[VARIABLE]) as backend, pytest.MonkeyPatch.context() as patch:
        parts = running._parts(starts_zygote=False)
        moved = parts._replace(pool_for_a_run=lambda: backend)
        patch.setattr(running, "_parts", lambda **_: moved)
        patch.setattr(fake, "RELAYED", True)
        yield
        assert backend.runs_begun, "nothing ran there"


def _backend(name: str) -> AbstractContextManager[Any]:
    module, _, function = (_RELAY if name == "relay" else name).partition(":")
    found: AbstractContextManager[Any] = getattr(import_module(module), function)()
    return found
