"""The oracles: the real TypeScript compiler under Node, installed once into a cache git ignores."""

from __future__ import annotations

import json
import shutil
import subprocess
from functools import cache
from pathlib import Path
from typing import Any

import pytest

NODE = Path(__file__).parents[3] / "node"
PACKAGES = NODE / "node_modules"
INSTALL = "npm install --no-audit --no-fund --no-package-lock --ignore-scripts --loglevel=error"


def is_installed() -> bool:
    """Whether every package that `package.json` pins is there in that version."""
    wanted: dict[str, str] = json.loads((NODE / "package.json").read_text())["devDependencies"]
    for name, version in wanted.items():
        manifest = PACKAGES / name / "package.json"
        if not manifest.exists() or json.loads(manifest.read_text())["version"] != version:
            return False
    return True


@cache
def installed() -> Path:
    """Where the packages are; a single npm call gets them all if they are missing."""
    if shutil.which("node") is None or shutil.which("npm") is None:
        pytest.skip("needs Node.js and npm")
    if not is_installed():
        subprocess.run([*INSTALL.split(), "--prefix", str(NODE)], check=True, timeout=240)
    return PACKAGES


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
