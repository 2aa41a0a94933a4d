"""`%doctor`: versions, isolation, limits, and whether they hold on this machine."""

from __future__ import annotations

import json
import subprocess
import sys
from importlib.metadata import version
from typing import Any

from ..engine import Engine
from ..selftest import Check, report_lines
from ..sizes import spell_size

_SECONDS = 60


def report() -> str:
    """Names and values in two columns."""
    facts: dict[str, Any] = {
        **_flat(Engine.instance().doctor()),
        "versions.ipykernel": version("ipykernel"),
        "versions.jupyter-client": version("jupyter-client"),
    }
    width = max(map(len, facts))
    lines = [f"{name:<{width}}  {_spelled(name, value)}" for name, value in sorted(facts.items())]
    return "\n".join([*lines, "", *_selftest_lines()])


def _spelled(name: str, value: Any) -> str:
    if name.endswith("_bytes"):
        return spell_size(value)
    return f"{value:,}" if type(value) is int else str(value)


def _selftest_lines() -> list[str]:
    """The self-test forks processes and attacks them, so it gets a process of its own."""
    command = [sys.executable, "-P", "-m", "sandbox_kernel", "doctor", "--json"]
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, timeout=_SECONDS, check=False
        )
    except subprocess.TimeoutExpired:
        return [f"the self-test did not finish within {_SECONDS} s"]
    try:
        return report_lines([Check(**each) for each in json.loads(done.stdout)["checks"]])
    except ValueError:  # not JSON, so it crashed
        return [f"the self-test could not run: {done.stderr.strip()[-500:]}"]


def _flat(facts: dict[str, Any], prefix: str = "") -> dict[str, Any]:
    flat: dict[str, Any] = {}
    for name, value in facts.items():
        if isinstance(value, dict):
            flat.update(_flat(value, f"{prefix}{name}."))
        else:
            flat[f"{prefix}{name}"] = value
    return flat
