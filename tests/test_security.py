"""docs/attacks.md: every line names a layer that SECURITY.md describes and a test that exists."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from sandbox_kernel.worker.lockdown import ALLOWED_CALLS
from tests.escapes.test_bombs import BOMBS
from tests.hostile_worker.test_frames import LYING, LYING_OF_CALLS
from tests.hostile_worker.test_system_calls import ALLOWED, HIGHEST
from tests.programs.attacks import ATTACKS

ROOT = Path(__file__).parent.parent
TEXT = "".join((ROOT / page).read_text("utf-8") for page in ("SECURITY.md", "docs/attacks.md"))
LAYERS = set(re.findall(r"^\| ([a-z]+) \|", TEXT, re.M))
ROWS = re.findall(r"^\| (.+?) \| ([a-z, ]+) \| `(.+?)::(.+?)` \|$", TEXT, re.M)


@pytest.mark.parametrize(("attack", "layers", "path", "test"), ROWS, ids=lambda text: text[:40])
def test_a_line_of_the_table_names_a_test(attack: str, layers: str, path: str, test: str) -> None:
    assert set(layers.split(", ")) <= LAYERS, attack
    assert re.search(rf"^(async )?def {test}\(", (ROOT / path).read_text("utf-8"), re.M), path


def test_every_file_of_attacks_and_faults_is_in_the_table() -> None:
    named = {path for _, _, path, _ in ROWS}
    written = {
        str(file.relative_to(ROOT))
        for folder in ("escapes", "hostile_worker", "fuzz", "faults", "bounds", "programs")
        for file in (ROOT / "tests" / folder).glob("test_*.py")
    }
    assert written - named == set()
    assert len(ROWS) > 60


def test_every_finding_of_the_review_has_a_line_in_the_table() -> None:
    marks = {mark for attack, *_ in ROWS for mark in re.findall(r"\b[HMLN]\d+\b", attack)}
    counts = {"H": 5, "M": 7, "L": 10, "N": 20}
    assert marks == {f"{kind}{n + 1}" for kind, most in counts.items() for n in range(most)}


def stated(pattern: str) -> set[int]:
    """Every number that the page gives in this place; it must give one."""
    found = {int(number) for number in re.findall(pattern, TEXT)}
    assert found, pattern
    return found


def test_the_list_of_system_calls_is_as_long_as_it_says() -> None:
    counts = {len(calls) for calls in ALLOWED_CALLS.values()}
    assert counts == stated(r"allow-list of (\d+) system calls")
    assert counts == stated(r"the (\d+) calls on the list")


def test_there_are_as_many_attacks_as_it_says() -> None:
    assert stated(r"(\d+) attacks of a Python program") == {len(ATTACKS)}
    assert stated(r"(\d+) bombs") == {len(BOMBS)}
    assert stated(r"(\d+) kinds of malformed message") == {len(LYING) + len(LYING_OF_CALLS)}
    assert stated(r"(\d+) system calls off the list") == {HIGHEST - len(ALLOWED)}
