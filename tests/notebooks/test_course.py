"""Every notebook of the course runs with its real kernel and shows what it is saved with."""

from __future__ import annotations

import re
from pathlib import Path

import nbformat
import pytest

from sandbox_kernel.worker.lockdown import ALLOWED_CALLS

from .execution import FOLDER, NOTEBOOKS, code_cells, essence, execute, tags


def test_the_course_has_its_fifteen_notebooks() -> None:
    numbers = [int(path.name.split("-")[0]) for path in NOTEBOOKS]
    assert numbers == list(range(1, 16))


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_has_a_picture_a_question_and_something_to_try(path: Path) -> None:
    cells = nbformat.read(path, as_version=4).cells
    text = "\n".join(cell.source for cell in cells if cell.cell_type == "markdown")
    assert "](images/" in text
    assert "**Think about it.**" in text
    assert "**Try it.**" in text


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_gives_the_outputs_that_it_shows(path: Path) -> None:
    saved, now = nbformat.read(path, as_version=4), execute(path)
    for before, after in zip(code_cells(saved), code_cells(now), strict=True):
        assert essence(after) == essence(before), after.source


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_fails_only_where_it_means_to(path: Path) -> None:
    for cell in code_cells(nbformat.read(path, as_version=4)):
        failed = any(output.output_type == "error" for output in cell.outputs)
        assert failed == ("raises-exception" in tags(cell)), cell.source


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_code_and_output_fit_a_page(path: Path) -> None:
    """JupyterLab cuts longer lines of code off and folds longer lines of output."""
    for cell in code_cells(nbformat.read(path, as_version=4)):
        assert max(map(len, cell.source.split("\n"))) <= 100, cell.source
        tables = [line for line in _shown(cell).split("\n") if line[:1] in "┌│└" and line]
        assert max(map(len, tables), default=0) <= 100, cell.source


def _shown(cell: nbformat.NotebookNode) -> str:
    return "\n".join(
        output.get("text") or output.get("data", {}).get("text/plain", "")
        for output in cell.outputs
    )


def test_the_picture_of_the_wall_counts_the_system_calls() -> None:
    counts = {len(calls) for calls in ALLOWED_CALLS.values()}
    drawn = re.findall(r"(\d+) system calls", (FOLDER / "images" / "wall.svg").read_text("utf-8"))
    assert counts == {int(count) for count in drawn}


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_links_and_pictures_of_a_notebook_exist(path: Path) -> None:
    for cell in nbformat.read(path, as_version=4).cells:
        if cell.cell_type == "markdown":
            for target in re.findall(r"\]\(([^)#:]+)\)", cell.source):
                assert (FOLDER / target).exists(), target


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_is_saved_without_traces_of_the_machine_that_ran_it(path: Path) -> None:
    notebook = nbformat.read(path, as_version=4)
    assert not [cell for cell in code_cells(notebook) if "execution" in cell.metadata]
    outputs = [str(cell.outputs) for cell in code_cells(notebook)]
    assert not [text for text in outputs if "/work/" in text or "/home/" in text or "/tmp/" in text]
