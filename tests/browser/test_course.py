"""The course from first to last in a real JupyterLab: every cell runs, every picture loads.

`SANDBOX_COURSE_PICTURES=FOLDER` keeps what a reader sees, page by page, to be looked at.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.browser.lab import LabServer, Notebook

ROOT = Path(__file__).resolve().parents[2]
NOTEBOOKS = sorted(
    (ROOT / "notebooks").glob("*.ipynb"), key=lambda path: int(path.name.split("-")[0])
)
_PICTURES = os.environ.get("SANDBOX_COURSE_PICTURES")
_MINUTE = 60_000

pytestmark = pytest.mark.soak


@pytest.fixture(scope="module")
def course(lab_server: LabServer) -> LabServer:
    """What `make lab` shows: the notebooks, and the pages and pictures that they lead to."""
    for folder in ("notebooks", "docs"):
        shutil.copytree(ROOT / folder, lab_server.root / folder)
    return lab_server


@pytest.fixture(scope="module", params=["Light", "Dark"])
def reader(request: pytest.FixtureRequest, browser: Browser) -> Iterator[tuple[Page, str]]:
    context = browser.new_context(viewport={"width": 1200, "height": 1400})
    yield context.new_page(), request.param
    context.close()


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_runs_from_first_to_last(
    course: LabServer, reader: tuple[Page, str], path: Path
) -> None:
    page, theme = reader
    notebook = Notebook(page, course, f"notebooks/{path.name}")
    shutil.copy(path, notebook.path)
    notebook.open()
    notebook.use_theme(f"JupyterLab {theme}")
    page.evaluate(_RUN_ALL)
    _answer(notebook)
    page.wait_for_function(_ALL_HAVE_RUN, timeout=3 * _MINUTE)
    cells = notebook.save()["cells"]
    try:
        assert [each["source"] for each in cells if _failed(each) != _means_to_fail(each)] == []
        page.wait_for_function(_PICTURES_ARE_LOADED, timeout=_MINUTE)
        expect(page.locator(".jp-Notebook", has_text="Error displaying widget")).to_have_count(0)
        assert page.evaluate(_WIDER_THAN_THE_PAGE) == []
    finally:
        _photograph(page, f"{path.stem}-{theme.lower()}")
        notebook.command("kernelmenu:shutdown")


def _answer(notebook: Notebook) -> None:
    """Notebook 11 asks a person."""
    if not notebook.path.name.startswith("11-"):
        return
    asks = notebook.page.locator(".run-asks:not([data-dead])")
    expect(asks).to_be_visible(timeout=_MINUTE)
    _photograph(notebook.page, "11-card")
    notebook.page.get_by_role("button", name="Deny").click()


def _failed(cell: dict[str, Any]) -> bool:
    return any(output["output_type"] == "error" for output in cell.get("outputs", []))


def _means_to_fail(cell: dict[str, Any]) -> bool:
    return "raises-exception" in cell["metadata"].get("tags", [])


def _photograph(page: Page, name: str) -> None:
    if _PICTURES is None:
        return
    folder = Path(_PICTURES)
    folder.mkdir(parents=True, exist_ok=True)
    step, height = page.evaluate(_GO_TO, 0)
    for number, top in enumerate(range(0, height, step)):
        page.evaluate(_GO_TO, top)
        page.screenshot(path=folder / f"{name}-{number:02}.png")


_RUN_ALL = """() => { jupyterapp.commands.execute("notebook:run-all-cells") }"""
_ALL_HAVE_RUN = """() => {
  const { content, context } = jupyterapp.shell.currentWidget;
  const cells = content.widgets.filter((cell) => cell.model.type === "code");
  return cells.every((cell) => cell.model.executionCount && !cell.promptNode?.textContent.includes("*"))
    && context.sessionContext.session.kernel.status === "idle";
}"""
_PICTURES_ARE_LOADED = """() =>
  [...document.querySelectorAll(".jp-Notebook img")].every((img) => img.complete && img.naturalWidth)
"""
_WIDER_THAN_THE_PAGE = """() => {
  const right = document.querySelector(".jp-Notebook").getBoundingClientRect().right;
  return [...document.querySelectorAll(".jp-RenderedMarkdown, .jp-RenderedMarkdown img, .sandbox-run")]
    .filter((part) => part.getBoundingClientRect().right > right)
    .map((part) => part.textContent.slice(0, 80));
}"""
_GO_TO = """(top) => {
  const box = document.querySelector(".jp-WindowedPanel-outer") ?? document.querySelector(".jp-Notebook");
  box.scrollTop = top;
  return [box.clientHeight, box.scrollHeight];
}"""
