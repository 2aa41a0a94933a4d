"""One JupyterLab and one headless Chromium for all of these tests; a fresh page for each."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, ViewportSize, expect, sync_playwright

from tests.browser.faces import Face
from tests.browser.lab import LabServer, Notebook

_FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]

OpenNotebook = Callable[..., Notebook]
"""`open_notebook(cells, kernel="python3")`."""
ReadyNotebook = Callable[[Face], Notebook]
"""`ready_notebooks(face)`."""

expect.set_options(timeout=20_000)  # a busy machine is slow; what never happens still fails
_WINDOW: ViewportSize = {"width": 1100, "height": 900}


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    here = Path(__file__).parent
    for item in items:
        if here in item.path.parents:
            item.add_marker(pytest.mark.browser)


# Package scope: Playwright keeps an event loop running in this thread, which tests elsewhere
# could not share.
@pytest.fixture(scope="package")
def lab_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LabServer]:
    server = LabServer(tmp_path_factory.mktemp("lab"))
    try:
        server.wait_until_up()
        yield server
    finally:
        server.stop()


@pytest.fixture(scope="package")
def browser() -> Iterator[Browser]:
    chromium = shutil.which("chromium") or shutil.which("chromium-browser")
    if chromium is None:
        pytest.skip("no chromium on this machine")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=_FLAGS)
        yield browser
        browser.close()


@pytest.fixture
def page(browser: Browser) -> Iterator[Page]:
    context = browser.new_context(viewport=_WINDOW)
    page = context.new_page()
    yield page
    context.close()


@pytest.fixture(scope="package")
def ready_notebooks(browser: Browser, lab_server: LabServer) -> Iterator[ReadyNotebook]:
    """Gives each face's notebook, opened and set up once: tests add their own cells to it.

    After a test that failed while a cell ran, there is a new one, also for its second try.
    """
    open_ones: dict[str, Notebook] = {}

    def ready(face: Face) -> Notebook:
        if face.name in open_ones and open_ones[face.name].is_busy():
            open_ones.pop(face.name).page.context.close()
        if face.name not in open_ones:
            page = browser.new_context(viewport=_WINDOW).new_page()
            notebook = Notebook.create(page, lab_server, face.setup, face.kernel)
            for index in range(len(face.setup)):
                notebook.run(index, timeout=60)
            open_ones[face.name] = notebook
        return open_ones[face.name]

    yield ready
    for notebook in open_ones.values():
        notebook.page.context.close()


@pytest.fixture
def open_notebook(page: Page, lab_server: LabServer) -> OpenNotebook:
    """Opens a fresh notebook with the given cells in a fresh page."""

    def open_it(cells: list[str], kernel: str = "python3") -> Notebook:
        return Notebook.create(page, lab_server, cells, kernel)

    return open_it
