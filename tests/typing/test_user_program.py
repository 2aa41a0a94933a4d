"""Type checkers accept what users write against the installed package, and report their mistakes."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tests.packaging.installed import Installed
from tests.typing.checkers import Complaint, mypy, pyright

PROGRAMS = Path(__file__).parent / "programs"
CHECKERS = {"mypy": mypy, "pyright": pyright}


@pytest.fixture(scope="session", params=CHECKERS)
def complaints(
    request: pytest.FixtureRequest, installed: Installed, tmp_path_factory: pytest.TempPathFactory
) -> list[Complaint]:
    """What one checker says about all the programs, in a folder away from the sources."""
    folder = tmp_path_factory.mktemp("programs")
    shutil.copytree(PROGRAMS, folder, dirs_exist_ok=True)
    return CHECKERS[request.param](folder, installed)


def marked_wrong(program: str) -> set[int]:
    lines = (PROGRAMS / program).read_text("utf-8").splitlines()
    return {number for number, line in enumerate(lines, 1) if line.endswith("# wrong")}


def lines_of(complaints: list[Complaint], program: str) -> set[int]:
    return {each.line for each in complaints if each.file == program}


def test_the_programs_of_a_user_have_no_errors(complaints: list[Complaint]) -> None:
    assert [each for each in complaints if each.file == "user_program.py"] == []


def test_wrong_calls_are_reported(complaints: list[Complaint]) -> None:
    assert lines_of(complaints, "wrong_calls.py") == marked_wrong("wrong_calls.py")


def test_wrong_options_are_reported(complaints: list[Complaint]) -> None:
    assert lines_of(complaints, "wrong_options.py") == marked_wrong("wrong_options.py")


def test_the_program_of_a_user_runs(installed: Installed) -> None:
    printed = installed.run(PROGRAMS / "user_program.py")
    assert "success" in printed.splitlines()[-1]
