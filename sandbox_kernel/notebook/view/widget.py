"""The run view as a Jupyter widget: the state that a page draws and a notebook keeps.

Apart from `run_view.py`, because ipywidgets is slow to import and a short quiet run shows no view.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any
from uuid import uuid4

import anywidget
import traitlets

_PAGE = Path(__file__).parent / "page"
_SCRIPTS = ("elements", "feed", "values", "plot", "lists", "panel", "keep", "view")


class RunWidget(anywidget.AnyWidget):
    """Whole states are traits, which a saved notebook keeps; what is new between them is sent."""

    # One module for the page, joined here: its parts share a scope, and there is nothing to build.
    _esm = "\n".join((_PAGE / f"{name}.js").read_text("utf-8") for name in _SCRIPTS)
    _css = (_PAGE / "view.css").read_text("utf-8")

    # Status, elapsed time, memory, counts, error, and the id under which a notebook keeps all this.
    head: traitlets.Dict[str, Any] = traitlets.Dict().tag(sync=True)
    # Bars: [label, share or None, text].
    progress: traitlets.List[Any] = traitlets.List().tag(sync=True)
    # The line: points, count, texts.
    plot: traitlets.Dict[str, Any] = traitlets.Dict().tag(sync=True)
    # The newest reports and logs.
    window: traitlets.Dict[str, Any] = traitlets.Dict().tag(sync=True)

    def __init__(self, terminate: Callable[[], None]) -> None:
        key = uuid4().hex
        super().__init__(model_id=key, head={"id": key, "status": "running"})
        self._terminate = terminate
        self.on_msg(self._hear)
        # ipykernel sends comm messages to the subshell that last spoke on the comm, which is the
        # one that is busy with the cell. The page's own choice of subshell is never busy.
        self.comm._reply_subshell_for = lambda data, chosen: chosen

    def _hear(self, _widget: Any, content: Any, _buffers: Any) -> None:
        if isinstance(content, dict) and content.get("kind") == "terminate":
            self._terminate()

    def bundle(self, text: str) -> dict[str, Any]:
        """The MIME bundle of an output: the live view, and text for whoever cannot show it."""
        view = {"version_major": 2, "version_minor": 0, "model_id": self.model_id}
        return {"text/plain": text, "application/vnd.jupyter.widget-view+json": view}
