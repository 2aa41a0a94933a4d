"""The oracles: the real TypeScript compiler under Node."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.node.packages import NODE, installed


class Oracle:
    """Asks the compiler; every question goes to one Node process with all programs at once."""

    def behaviour(self, programs: list[dict[str, str]]) -> list[dict[str, Any]]:
        """What each program does compiled, and what it does erased."""
        return self._ask("behaviour.mjs", programs)

    def differences(self, programs: list[dict[str, str]]) -> list[str | None]:
        """The first difference between the syntax trees of the compiled and the erased program."""
        return self._ask("trees.mjs", programs)

    def _ask(self, script: str, programs: list[dict[str, str]]) -> Any:
        command = ["node", "--experimental-vm-modules", "--no-warnings", str(NODE / script)]
        question = json.dumps(programs)
        answer = subprocess.run(
            command, input=question, capture_output=True, text=True, timeout=240
        )
        assert answer.returncode == 0, answer.stderr
        return json.loads(answer.stdout)


@pytest.fixture(scope="session")
def packages() -> Path:
    return installed()


@pytest.fixture(scope="session")
def oracle(packages: Path) -> Oracle:
    return Oracle()
