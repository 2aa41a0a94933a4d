"""`ServiceEngine`: the contract holds for runs whose workers are a service's."""

from __future__ import annotations

import os
import subprocess
import sys

from tests.elsewhere import VARIABLE
from tests.service.talking import only_in_soak

CORE = ["tests/contract/test_2_handle.py"]
WHOLE = [
    "tests/contract/test_2_handle.py",
    "tests/contract/test_3_5_bridges.py",
    "tests/contract/test_3_5_values.py",
    "tests/contract/test_3_options.py",
    "tests/contract/test_4_result.py",
    "tests/contract/test_6_limitations.py",
    "tests/contract/test_7_8_10.py",
    "tests/contract/test_bad_input.py",
    "tests/contract/test_bridge_errors.py",
    "tests/contract/test_everyday_results.py",
    "tests/contract/test_places.py",
    "tests/faults/test_bridges.py",
    "tests/escapes",
]


def _behind_a_service(tests: list[str]) -> None:
    command = [sys.executable, "-m", "pytest", "-q", "-p", "tests.elsewhere", *tests]
    environment = {**os.environ, VARIABLE: "tests.service.behind:service_backend"}
    done = subprocess.run(command, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout[-5000:]


def test_the_core_of_the_contract_holds_behind_a_service() -> None:
    _behind_a_service(CORE)


@only_in_soak
def test_contract_bridges_and_escapes_hold_behind_a_service() -> None:
    _behind_a_service(WHOLE)
