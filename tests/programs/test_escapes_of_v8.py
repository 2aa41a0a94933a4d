"""The attacks of attacks_of_v8.py, at every level, from a host that is root and from one that is nobody."""

from __future__ import annotations

import json
import subprocess
from functools import cache
from typing import Any

import pytest

from sandbox_kernel.programs.binaries import is_installed
from sandbox_kernel.programs.levels import LEVELS
from tests.programs.attacks import GOT_THROUGH, Attack
from tests.programs.attacks_of_v8 import ATTACKS
from tests.programs.test_escapes import HOSTS, ROOT, command, environment

EACH = [(runtime, attack) for runtime, attacks in ATTACKS.items() for attack in attacks]


@cache
def attempted(runtime: str, host: str, level: str) -> dict[str, Any] | str:
    """What the attacks found; or why they could not be tried."""
    if not is_installed(runtime):
        return f"there is no {runtime} here"
    found = command(host, "tests.programs.attacks_of_v8", runtime, level)
    if found is None:
        return "takes setpriv, and an interpreter that everybody can start"
    done = subprocess.run(
        found, capture_output=True, text=True, timeout=240, cwd=ROOT, env=environment()
    )
    if "IsolationError" in done.stderr:
        return done.stderr.splitlines()[-1]
    assert done.returncode == 0, done.stderr
    report: dict[str, Any] = json.loads(done.stdout)
    return report


def report(runtime: str, host: str, level: str) -> dict[str, Any]:
    found = attempted(runtime, host, level)
    if isinstance(found, str):
        pytest.skip(found)
    return found


@pytest.mark.parametrize("host", HOSTS)
@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize(
    ("runtime", "attack"), EACH, ids=lambda each: each.name if isinstance(each, Attack) else each
)
def test_an_attack_is_stopped(runtime: str, attack: Attack, level: str, host: str) -> None:
    found = report(runtime, host, level)
    assert isinstance(found["outcomes"], dict), found["said"]
    assert found["outcomes"][attack.name] != GOT_THROUGH


@pytest.mark.parametrize("host", HOSTS)
@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("runtime", ATTACKS)
def test_the_victim_is_as_it_was(runtime: str, level: str, host: str) -> None:
    assert report(runtime, host, level)["content"] == "secret"


@pytest.mark.parametrize("runtime", ATTACKS)
def test_each_attack_has_a_name_of_its_own(runtime: str) -> None:
    names = [attack.name for attack in ATTACKS[runtime]]
    assert len(set(names)) == len(names) >= 50
