"""Installs the peers, all optional, into .cache/bench: a virtual environment and a node_modules."""

from __future__ import annotations

import compileall
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
CACHE = ROOT / ".cache" / "bench"
PYTHON = CACHE / "venv" / "bin" / "python"
NODE = CACHE / "node"

_SECONDS = 600


def install(packages: list[tuple[str, str]]) -> dict[str, str]:
    """Installs `(kind, package)` pairs, kind `pip` or `npm`; returns why any could not be."""
    CACHE.mkdir(parents=True, exist_ok=True)
    # Our package is run from this folder; compile it, as pip compiles what it installs.
    compileall.compile_dir(ROOT / "sandbox_kernel", quiet=1)
    problems = {}
    for kind, package in packages:
        present = _has_pip if kind == "pip" else _has_npm
        if present(package):
            continue
        print(f"installing {package}", file=sys.stderr, flush=True)
        problem = _pip(package) if kind == "pip" else _npm(package)
        if problem is not None:
            problems[package] = problem
    return problems


def _run(command: list[str], cwd: Path) -> str | None:
    try:
        done = subprocess.run(
            command, cwd=cwd, capture_output=True, text=True, timeout=_SECONDS, check=False
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        return str(error)
    if done.returncode == 0:
        return None
    lines = (done.stderr or done.stdout).strip().splitlines() or ["it failed without a message"]
    return lines[-1][:200]


def _has_pip(package: str) -> bool:
    return _pip_version(package) is not None


def _pip_version(package: str) -> str | None:
    code = f"import importlib.metadata as m; print(m.version({package!r}))"
    try:
        done = subprocess.run([PYTHON, "-c", code], capture_output=True, text=True, check=False)
    except OSError:
        return None
    return done.stdout.strip() or None


def _pip(package: str) -> str | None:
    if not PYTHON.exists():
        problem = _run([sys.executable, "-m", "venv", str(CACHE / "venv")], CACHE)
        if problem is not None:
            return problem
    return _run([str(PYTHON), "-m", "pip", "install", "-q", package], CACHE)


def _has_npm(package: str) -> bool:
    return (NODE / "node_modules" / package / "package.json").exists()


def _npm(package: str) -> str | None:
    if shutil.which("npm") is None:
        return "npm is not installed"
    NODE.mkdir(exist_ok=True)
    if not (NODE / "package.json").exists():
        (NODE / "package.json").write_text('{"private": true}\n')
    return _run(["npm", "install", "--no-audit", "--no-fund", "--silent", package], NODE)


def version(kind: str, package: str) -> str:
    if kind == "own":
        from sandbox_kernel import __version__

        return __version__
    if kind == "pip":
        return _pip_version(package) or "?"
    data = json.loads((NODE / "node_modules" / package / "package.json").read_text())
    return str(data["version"])


def environment() -> dict[str, str]:
    return {**os.environ, "NODE_NO_WARNINGS": "1"}
