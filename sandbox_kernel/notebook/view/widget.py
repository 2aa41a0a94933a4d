"""The run view as a Jupyter widget: the state that a page draws and a notebook keeps.

Apart from `run_view.py`, because ipywidgets is slow to import and a short quiet run shows no view.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Any
from uuid import uuid4

import anywidget
import comm
import traitlets
from ipywidgets import Widget  # type: ignore[import-untyped]  # it has no types
from ipywidgets.widgets import widget as ipywidgets_registry  # type: ignore[import-untyped]  # it has no types

_PAGE = Path(__file__).parent / "page"
_KEPT = 20  # views of runs that are over, for pages that are loaded again
_SCRIPTS = ("elements", "feed", "values", "plot", "lists", "calls", "asks", "panel", "keep", "view")


class ViewCode(Widget):  # type: ignore[misc]  # ipywidgets has no types
    """The code of all views: a page gets it once, and a notebook keeps it once."""

    # One module for the page, joined here: its parts share a scope, and there is nothing to build.
    source = traitlets.Unicode(
        "\n".join((_PAGE / f"{name}.js").read_text("utf-8") for name in _SCRIPTS)
    ).tag(sync=True)
    style = traitlets.Unicode((_PAGE / "view.css").read_text("utf-8")).tag(sync=True)

    @classmethod
    @cache
    def shared(cls) -> ViewCode:
        """Its id is that of its text: after a restart a notebook still keeps it once."""
        text = cls.source.default_value + cls.style.default_value
        return cls(model_id=f"sandbox-view-{sha256(text.encode()).hexdigest()[:24]}")


class RunWidget(anywidget.AnyWidget):
    """Whole states are traits, which a saved notebook keeps; what is new between them is sent."""

    _esm = (_PAGE.parent / "load.js").read_text("utf-8")
    # The widget that has the code, as ipywidgets writes references.
    code = traitlets.Unicode().tag(sync=True)

    # Status, elapsed time, memory, counts, error, and the id under which a notebook keeps all this.
    head: traitlets.Dict[str, Any] = traitlets.Dict().tag(sync=True)
    # Bars: [label, share or None, text].
    progress: traitlets.List[Any] = traitlets.List().tag(sync=True)
    # The line: points, count, texts.
    plot: traitlets.Dict[str, Any] = traitlets.Dict().tag(sync=True)
    # The newest reports and logs.
    window: traitlets.Dict[str, Any] = traitlets.Dict().tag(sync=True)
    # The newest calls of lent functions.
    calls: traitlets.Dict[str, Any] = traitlets.Dict().tag(sync=True)
    # Cards of calls that a person is asked about.
    asks: traitlets.List[Any] = traitlets.List().tag(sync=True)

    _retired: deque[RunWidget] = deque()  # noqa: RUF012  # the kernel's, like ipywidgets' own list

    def __init__(self, terminate: Callable[[], None], desk: Any = None) -> None:
        key = uuid4().hex
        code = f"IPY_MODEL_{ViewCode.shared().model_id}"
        super().__init__(model_id=key, code=code, head={"id": key, "status": "running"})
        self._terminate: Callable[[], None] | None = terminate
        self._desk = desk
        self.on_msg(self._hear)
        # ipykernel sends comm messages to the subshell that last spoke on the comm, which is the
        # one that is busy with the cell. The page's own choice of subshell is never busy.
        self.comm._reply_subshell_for = lambda data, chosen: chosen

    def _hear(self, _widget: Any, content: Any, _buffers: Any) -> None:
        if not isinstance(content, dict):
            return
        kind, desk = content.get("kind"), self._desk
        if kind == "terminate" and self._terminate is not None:
            self._terminate()
        elif kind == "drawn" and desk is not None:
            desk.drawn(content.get("ids"))
        elif kind == "answer" and desk is not None:
            desk.answer(content.get("id"), content.get("choice"))

    def retire(self) -> None:
        """The run is over. Only so many views stay; a notebook keeps the state of the older ones."""
        self._terminate = self._desk = None
        self._retired.append(self)
        while len(self._retired) > _KEPT:
            self._retired.popleft().forget()

    @classmethod
    def forget_all(cls) -> None:
        """Lets go of every view of a run that is over."""
        while cls._retired:
            cls._retired.popleft().forget()

    def forget(self) -> None:
        """Drops the kernel's side of a view. `close` would remove it from the page as well."""
        for each in (self, self.layout):
            channel = each.comm
            if channel is None:
                continue
            ipywidgets_registry._instances.pop(each.model_id, None)
            comm.get_comm_manager().comms.pop(channel.comm_id, None)
            channel._closed = True  # so that nothing is sent when it is collected

    def bundle(self) -> dict[str, Any]:
        """The MIME bundle of an output that is nothing but the live view; see `still.py`."""
        view = {"version_major": 2, "version_minor": 0, "model_id": self.model_id}
        return {"text/plain": "", "application/vnd.jupyter.widget-view+json": view}
