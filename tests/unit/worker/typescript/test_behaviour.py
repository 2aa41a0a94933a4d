"""An erased program does what the same program does when the TypeScript compiler compiles it.

`programs/` holds the corpus: a file per construct, a program after each `////` line. All programs
of a file run in one Node process, erased and compiled, and everything they log, export, import
and throw is compared.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from sandbox_kernel.worker.typescript import prepare

FILES = sorted((Path(__file__).parent / "programs").glob("*.ts"))
_TITLE = re.compile(r"^//// (.*?)\r?\n", re.MULTILINE)


def programs_of(file: Path) -> dict[str, str]:
    """The programs of a file by title, with their line breaks as they are."""
    parts = _TITLE.split(file.read_bytes().decode())
    return dict(zip(parts[1::2], parts[2::2], strict=True))


CASES = [(file.stem, title) for file in FILES for title in programs_of(file)]


@pytest.fixture(scope="module")
def outcomes(oracle: Any) -> dict[tuple[str, str], dict[str, Any]]:
    sources = [source for file in FILES for source in programs_of(file).values()]
    programs = [{"source": source, "erased": prepare(source).text} for source in sources]
    return dict(zip(CASES, oracle.behaviour(programs), strict=True))


@pytest.mark.parametrize(("file", "title"), CASES)
def test_an_erased_program_behaves_as_compiled(file: str, title: str, outcomes: Any) -> None:
    outcome = outcomes[file, title]
    expected, actual = outcome["expected"], outcome["actual"]
    assert not outcome["errors"], "the compiler refuses the program itself"
    for done in (expected, actual):
        done.pop("stack", None)
    assert actual == expected


def test_the_corpus_covers_each_construct() -> None:
    assert len(CASES) > 120
