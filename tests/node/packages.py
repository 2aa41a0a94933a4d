"""The npm packages of the tests (package.json), installed once into a folder that git ignores.

`python -m tests.node.packages` installs them for the verbs of the Makefile.
"""

from __future__ import annotations

import fcntl
import json
import os
import shutil
import subprocess
from functools import cache
from pathlib import Path

import pytest

NODE = Path(__file__).parent
PACKAGES = NODE / "node_modules"
_INSTALL = "npm install --no-audit --no-fund --no-package-lock --ignore-scripts --loglevel=error"


def install() -> None:
    """A single npm call gets all packages, if any is missing; other processes of the tests wait for it."""
    folder = os.open(NODE, os.O_RDONLY)
    try:
        fcntl.flock(folder, fcntl.LOCK_EX)
        if not _is_installed():
            subprocess.run([*_INSTALL.split(), "--prefix", str(NODE)], check=True, timeout=240)
    finally:
        os.close(folder)


def _is_installed() -> bool:
    """Whether every package that `package.json` pins is there in that version."""
    wanted: dict[str, str] = json.loads((NODE / "package.json").read_text())["devDependencies"]
    for name, version in wanted.items():
        manifest = PACKAGES / name / "package.json"
        if not manifest.exists() or json.loads(manifest.read_text())["version"] != version:
            return False
    return True


@cache
def installed() -> Path:
    """Where the packages are; a test that asks is skipped where there is no Node.js."""
    if shutil.which("node") is None or shutil.which("npm") is None:
        pytest.skip("needs Node.js and npm")
    install()
    return PACKAGES


if __name__ == "__main__":
    install()
