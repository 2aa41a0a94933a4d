"""A JupyterLab of our own and a notebook in it, as a person at a browser would use them."""

from __future__ import annotations

import json
import os
import re
import secrets
import socket
import subprocess
import sys
import time
import urllib.request
from pathlib import Path
from typing import Any

from playwright.sync_api import Locator, Page, expect

_QUIET = {
    "@jupyterlab/apputils-extension/notification.jupyterlab-settings": {
        "fetchNews": "false",
        "checkForUpdates": False,
    },
    "@jupyterlab/docmanager-extension/plugin.jupyterlab-settings": {"autosave": False},
    # Every output stays in the page, however far down it is.
    "@jupyterlab/notebook-extension/tracker.jupyterlab-settings": {"windowingMode": "none"},
}


_IMAGES = Path(__file__).parents[2] / "docs" / "images"


def screenshot(target: Page | Locator, name: str) -> None:
    """A picture for docs/, made anew only when asked for: it would differ a little each time."""
    if os.environ.get("SANDBOX_SCREENSHOTS"):
        target.screenshot(path=_IMAGES / f"{name}.png")


class LabServer:
    """One JupyterLab process with its own directories, so that nobody's settings matter."""

    def __init__(self, home: Path) -> None:
        self.root = home / "notebooks"
        self.root.mkdir(parents=True)
        self.token = secrets.token_hex(16)
        self.port = _free_port()
        self.log = home / "lab.log"
        for name, settings in _QUIET.items():
            file = home / "settings" / name
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(json.dumps(settings))
        with self.log.open("w") as log:
            self._process = subprocess.Popen(
                self._command(), cwd=self.root, env=_environment(home), stdout=log, stderr=log
            )

    def _command(self) -> list[str]:
        return [
            *(sys.executable, "-m", "jupyterlab", "--no-browser", "--allow-root"),
            *("--ip=127.0.0.1", f"--port={self.port}", "--ServerApp.port_retries=0"),
            *(f"--IdentityProvider.token={self.token}", f"--ServerApp.root_dir={self.root}"),
            *("--LabApp.expose_app_in_browser=True", "--LabApp.extension_manager=readonly"),
            "--ServerApp.terminals_enabled=False",
        ]

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def wait_until_up(self, timeout: float = 60) -> None:
        deadline = time.monotonic() + timeout
        while time.monotonic() < deadline and self._process.poll() is None:
            try:
                urllib.request.urlopen(f"{self.url}/api/status?token={self.token}", timeout=2)
                return
            except OSError:
                time.sleep(0.2)
        raise RuntimeError(f"JupyterLab did not start:\n{self.log.read_text()}")

    def stop(self) -> None:
        self._process.terminate()
        try:
            self._process.wait(15)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _environment(home: Path) -> dict[str, str]:
    return {
        **os.environ,
        "JUPYTER_CONFIG_DIR": str(home / "config"),
        "JUPYTER_DATA_DIR": str(home / "data"),
        "JUPYTER_RUNTIME_DIR": str(home / "runtime"),
        "JUPYTERLAB_SETTINGS_DIR": str(home / "settings"),
        "JUPYTERLAB_WORKSPACES_DIR": str(home / "workspaces"),
        "IPYTHONDIR": str(home / "ipython"),
        "XDG_CONFIG_HOME": str(home / "xdg"),  # where permissions are kept
    }


class Notebook:
    """A notebook open in a page: run its cells, look at their outputs, save it, open it again."""

    def __init__(self, page: Page, server: LabServer, name: str) -> None:
        self.page = page
        self.path = server.root / name
        self._server = server

    @classmethod
    def create(
        cls, page: Page, server: LabServer, cells: list[str], kernel: str = "python3"
    ) -> Notebook:
        notebook = cls(page, server, f"{secrets.token_hex(4)}.ipynb")
        notebook.path.write_text(json.dumps(_notebook_of(cells, kernel)))
        notebook.open()
        return notebook

    def open(self, wait_for_idle: bool = True) -> None:
        """Go to the notebook, as after a click on its name, and wait for its kernel."""
        name = self.path.relative_to(self._server.root)
        address = f"{self._server.url}/lab/tree/{name}?reset&token={self._server.token}"
        self.page.goto(address)
        self.page.locator(".jp-Notebook .jp-Cell").first.wait_for(timeout=60_000)
        if wait_for_idle:
            self.page.wait_for_function(_KERNEL_IS_IDLE, timeout=60_000)

    def add(self, source: str) -> int:
        """Append a cell; its index."""
        index: int = self.page.evaluate(_ADD_CELL, source)
        self.cell(index).wait_for()
        return index

    def cell(self, index: int) -> Locator:
        return self.page.locator(".jp-Notebook .jp-Cell").nth(index)

    def output(self, index: int) -> Locator:
        return self.cell(index).locator(".jp-OutputArea").first

    def view(self, index: int) -> Locator:
        """The live run view under a cell."""
        return self.cell(index).locator(".sandbox-run")

    def start(self, index: int) -> None:
        """Run a cell and return at once."""
        self.page.evaluate(_RUN_CELL, index)

    def run(self, index: int, timeout: float = 30) -> None:
        """Run a cell and wait until it has ended."""
        self.start(index)
        self.wait(index, timeout)

    def wait(self, index: int, timeout: float = 30) -> None:
        """Until the cell has ended and its output, which may come after the reply, stands still."""
        prompt = self.cell(index).locator(".jp-InputPrompt").first
        expect(prompt).to_have_text(re.compile(r"\[\d+\]:"), timeout=timeout * 1000)
        self.page.evaluate(_OUTPUT_STANDS_STILL, index)

    def is_running(self, index: int) -> bool:
        return "[*]" in self.cell(index).locator(".jp-InputPrompt").first.inner_text()

    def is_busy(self) -> bool:
        """Whether any cell runs, or waits for one that does."""
        return self.page.locator(".jp-InputPrompt", has_text="[*]").count() > 0

    def save(self) -> dict[str, Any]:
        """Save, and what is then in the file; output that comes meanwhile makes it dirty again."""
        self.command("docmanager:save")
        saved: dict[str, Any] = json.loads(self.path.read_text())
        return saved

    def command(self, name: str, args: dict[str, Any] | None = None) -> None:
        self.page.evaluate(
            "([name, args]) => jupyterapp.commands.execute(name, args)", [name, args]
        )

    def use_theme(self, name: str) -> None:
        self.command("apputils:change-theme", {"theme": name})
        light = "false" if "Dark" in name else "true"
        expect(self.page.locator("body")).to_have_attribute("data-jp-theme-light", light)
        self.page.wait_for_function(_THEME_IS_LOADED)


def edges(element: Locator) -> tuple[float, float, float, float]:
    """Left, top, right and bottom."""
    box = element.bounding_box()
    assert box is not None
    return box["x"], box["y"], box["x"] + box["width"], box["y"] + box["height"]


def contrast(text: Locator) -> float:
    """Between a text and what is behind it, as WCAG defines it; 4.5 can be read by nearly everybody."""
    value: float = text.evaluate(_CONTRAST)
    return value


_CONTRAST = """(element) => {
  const read = (colour) => {
    const [red, green, blue, alpha = 1] = colour.match(/[\\d.]+/g).map(Number);
    return { channels: [red, green, blue], alpha };
  };
  const over = ({ channels, alpha }, back) => channels.map((each, at) => each * alpha + back[at] * (1 - alpha));
  const layers = [];
  let opacity = 1;
  for (let at = element; at; at = at.parentElement) {
    const style = getComputedStyle(at);
    opacity *= Number(style.opacity);
    layers.push(read(style.backgroundColor));
  }
  const back = layers.reduceRight((below, layer) => over(layer, below), [255, 255, 255]);
  const { channels, alpha } = read(getComputedStyle(element).color);
  const front = over({ channels, alpha: alpha * opacity }, back);
  const light = (colour) => {
    const [red, green, blue] = colour.map((each) => each / 255)
      .map((each) => (each <= 0.03928 ? each / 12.92 : ((each + 0.055) / 1.055) ** 2.4));
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue + 0.05;
  };
  const [one, other] = [light(front), light(back)];
  return Math.max(one, other) / Math.min(one, other);
}"""

_KERNEL_IS_IDLE = """() => {
  const context = jupyterapp?.shell?.currentWidget?.context?.sessionContext;
  return context?.session?.kernel?.status === "idle";
}"""
_THEME_IS_LOADED = """() =>
  getComputedStyle(document.body).getPropertyValue("--jp-ui-font-color1") !== ""
"""
_ADD_CELL = """(source) => {
  const shared = jupyterapp.shell.currentWidget.content.model.sharedModel;
  shared.insertCell(shared.cells.length, { cell_type: "code", source });
  return shared.cells.length - 1;
}"""
_RUN_CELL = """(index) => {
  const panel = jupyterapp.shell.currentWidget;
  panel.content.activeCellIndex = index;
  panel.content.deselectAll();
  jupyterapp.commands.execute("notebook:run-cell");
}"""
# The view of an ended run is drawn anew: whoever clicks in that moment clicks on what is no more.
_OUTPUT_STANDS_STILL = """(index) => new Promise((resolve) => {
  const cell = document.querySelectorAll(".jp-Notebook .jp-Cell")[index];
  const still = () => (observer.disconnect(), resolve());
  let timer = setTimeout(still, 500);
  const observer = new MutationObserver(() => {
    clearTimeout(timer);
    timer = setTimeout(still, 500);
  });
  observer.observe(cell, { childList: true, subtree: true, characterData: true });
})"""


def _notebook_of(cells: list[str], kernel: str) -> dict[str, Any]:
    return {
        "nbformat": 4,
        "nbformat_minor": 5,
        "metadata": {"kernelspec": {"name": kernel, "display_name": kernel}},
        "cells": [
            {
                "id": f"cell-{at}",
                "cell_type": "code",
                "source": source,
                "metadata": {},
                "outputs": [],
                "execution_count": None,
            }
            for at, source in enumerate(cells)
        ],
    }
