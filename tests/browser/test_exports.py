"""Notebooks exported to HTML show their runs, also without a network and on paper."""

from __future__ import annotations

from pathlib import Path

import nbformat
from nbconvert import HTMLExporter
from playwright.sync_api import Browser, expect

from tests.browser.conftest import OpenNotebook
from tests.browser.faces import KERNEL, Face, one_face
from tests.browser.lab import screenshot

REPORTS = (
    "%%runcode\nfor (let i = 1; i <= 60; i++) { report({ progress: i, total: 60, label: 'Training' });"
    " report(Math.exp(-i / 20)); if (i % 20 === 0) report({ step: i, loss: Math.exp(-i / 20) }); }"
    " console.log('done');"
)


@one_face
def test_an_export_opened_offline_shows_the_run(
    open_notebook: OpenNotebook, browser: Browser, tmp_path: Path, face: Face
) -> None:
    notebook = open_notebook([face.setup[0], REPORTS], face.kernel)
    notebook.run(0)
    notebook.run(1)
    expect(notebook.view(1).locator(".run-word")).to_have_text("Finished")
    expect(notebook.output(1).locator(".sandbox-run-still")).to_be_hidden()
    notebook.save()
    page = browser.new_context(viewport={"width": 900, "height": 700}, offline=True).new_page()
    target = tmp_path / "export.html"
    target.write_text(HTMLExporter().from_filename(str(notebook.path))[0], "utf-8")
    page.goto(target.as_uri(), wait_until="commit")
    still = page.locator(".sandbox-run-still")
    expect(still).to_be_visible()
    expect(still).to_contain_text("Finished after")
    expect(still).to_contain_text("Training")
    expect(still.locator("svg")).to_be_visible()
    if face is KERNEL:
        screenshot(still, "live-view-export")
    page.emulate_media(media="print")
    expect(still).to_be_visible()
    page.context.close()


def test_a_page_loaded_during_a_run_saves_how_it_ended(open_notebook: OpenNotebook) -> None:
    body = "%%runcode\nreport({ a: 1 }); for (;;) {}"
    notebook = open_notebook([KERNEL.setup[0], body], KERNEL.kernel)
    notebook.run(0)
    notebook.start(1)
    view = notebook.view(1)
    expect(view.locator(".run-word")).to_have_text("Running")
    notebook.save()
    notebook.open(wait_for_idle=False)
    view.get_by_role("button", name="Terminate").click()
    expect(view.locator(".run-word")).to_have_text("Terminated")
    notebook.page.wait_for_function(_NOTHING_IS_RUNNING)
    notebook.save()
    saved = nbformat.read(notebook.path, as_version=4)
    texts = [output.data["text/plain"] for output in saved.cells[1].outputs if "data" in output]
    assert [text.split(",")[0].split(" after")[0] for text in texts if text] == ["Run: terminated"]


_NOTHING_IS_RUNNING = """() => {
  const notebook = jupyterapp.shell.currentWidget.content.model.sharedModel.toJSON();
  return !JSON.stringify(notebook.cells).includes("still running");
}"""
