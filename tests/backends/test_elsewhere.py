"""The contract's core and the hostile worker, with everything behind a relay: nothing differs."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from tests.elsewhere import VARIABLE

_CORE = [
    "tests/contract/test_2_handle.py",
    "tests/hostile_worker/test_endings.py",
    "tests/hostile_worker/test_frames.py",
]
_REST = [
    "tests/contract/test_3_5_bridges.py",
    "tests/contract/test_3_5_values.py",
    "tests/contract/test_4_result.py",
    "tests/hostile_worker/test_floods.py",
    "tests/hostile_worker/test_open.py",
    "tests/faults/test_bridges.py",
]


def test_the_core_of_the_contract_holds_behind_a_relay() -> None:
    _behind_a_relay(_CORE)


@pytest.mark.soak
def test_the_rest_of_the_contract_holds_behind_a_relay() -> None:
    _behind_a_relay(_REST)


def _behind_a_relay(tests: list[str]) -> None:
    command = [sys.executable, "-m", "pytest", "-q", "-p", "tests.elsewhere", *tests]
    environment = {**os.environ, VARIABLE: "relay"}
    done = subprocess.run(command, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout[-5000:]
