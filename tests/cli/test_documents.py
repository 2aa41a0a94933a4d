"""The help and the page about the command line say what it does, and their examples run."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from sandbox_kernel.cli import exits
from sandbox_kernel.cli.arguments import parse
from sandbox_kernel.cli.help import HELP
from sandbox_kernel.errors import OptionError

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "command-line.md").read_text("utf-8")
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]


def _options() -> list[str]:
    """Those that an error lists, as a reader would find them out."""
    with pytest.raises(OptionError) as refused:
        parse(["--zzzzzz"])
    return re.findall(r"--\w+", str(refused.value).partition("known:")[2])


def test_every_option_is_in_the_help_and_on_its_page() -> None:
    assert len(_options()) == 9
    for option in _options():
        assert f"\n  {option}" in HELP["run"]
        assert f"| `{option}" in PAGE


@pytest.mark.parametrize("code", [exits.SUCCESS, exits.FAILED, exits.USAGE, exits.INTERRUPTED])
def test_every_exit_code_is_explained(code: int) -> None:
    assert f"| {code} |" in PAGE
    assert re.search(rf"\b{code}\b", HELP[""].partition("Exit codes")[2])


def _examples() -> list[tuple[str, str]]:
    """Lines of shell that begin with echo, and what the comment behind them says."""
    found = []
    for page in PAGES:
        for line in re.findall(r"^echo .*$", page.read_text("utf-8"), re.M):
            shell, _, printed = line.partition("  # ")
            found.append((shell.strip(), printed.strip()))
    return found


@pytest.mark.parametrize(("shell", "printed"), _examples())
def test_an_example_prints_what_it_says(shell: str, printed: str, tmp_path: Path) -> None:
    command = tmp_path / "sandbox-kernel"
    command.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m sandbox_kernel "$@"\n')
    command.chmod(0o755)
    path = f"{tmp_path}{os.pathsep}{os.environ['PATH']}"
    done = subprocess.run(
        ["sh", "-c", shell], env={**os.environ, "PATH": path}, capture_output=True, text=True
    )
    assert (done.stdout.strip(), done.stderr) == (printed, "")


def test_the_help_fits_a_terminal() -> None:
    for text in HELP.values():
        assert max(map(len, text.splitlines())) <= 100
