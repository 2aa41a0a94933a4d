"""mypy and pyright, both strict, over programs that see only the installed package."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from tests.node.packages import installed as npm_packages
from tests.packaging.installed import Installed


@dataclass(frozen=True)
class Complaint:
    """What a checker says about a line."""

    file: str
    line: int
    message: str


def mypy(programs: Path, installed: Installed) -> list[Complaint]:
    command = [sys.executable, "-m", "mypy", "--strict", "--config-file=", "--no-error-summary"]
    target = ["--python-executable", str(installed.python), "--cache-dir", str(installed.home)]
    printed = _run([*command, *target, "."], programs, installed.environment())
    found = re.finditer(r"^([\w.]+):(\d+): error: (.*)$", printed, re.M)
    return [Complaint(each[1], int(each[2]), each[3]) for each in found]


def pyright(programs: Path, installed: Installed) -> list[Complaint]:
    (programs / "pyrightconfig.json").write_text('{"typeCheckingMode": "strict"}')
    command = ["node", str(npm_packages() / "pyright" / "index.js"), "--outputjson"]
    target = ["--pythonpath", str(installed.python)]
    printed = _run([*command, *target], programs, installed.environment())
    return [
        Complaint(Path(each["file"]).name, each["range"]["start"]["line"] + 1, each["message"])
        for each in json.loads(printed)["generalDiagnostics"]
        if each["severity"] == "error"
    ]


def _run(command: list[str], folder: Path, environment: Mapping[str, str]) -> str:
    done = subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, timeout=240
    )
    assert done.returncode in (0, 1), done.stdout + done.stderr  # 1: it has complaints
    return done.stdout
