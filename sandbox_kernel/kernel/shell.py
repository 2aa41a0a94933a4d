"""An IPython shell for the Python of bridges, so that `display` works there as in Python notebooks.

Libraries ask IPython's shell how to show things: without one, `display(figure)` prints a name. What
is displayed is made by the notebook's author, in any MIME type, and stands under the cell whose
run called the bridge.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from typing import Any

from IPython.core.displaypub import DisplayPublisher
from IPython.core.interactiveshell import InteractiveShell
from IPython.core.pylabtools import print_figure
from traitlets import Type
from traitlets.config import Config

from .running import RunningCell

Current = Callable[[], RunningCell | None]


class BridgeDisplays(DisplayPublisher):
    """Publishes what bridges display under the cell that they serve."""

    current: Current = staticmethod(lambda: None)

    def publish(  # type: ignore[override]  # IPython has more, all of them by name
        self,
        data: dict[str, Any],
        metadata: dict[str, Any] | None = None,
        *,
        transient: dict[str, Any] | None = None,
        update: bool = False,
        **_: Any,
    ) -> None:
        cell = self.current()
        if cell is None:
            sys.stdout.write(f"{data.get('text/plain', '')}\n")
            return
        content = {"data": data, "metadata": metadata or {}, "transient": transient or {}}
        cell.show_python("update_display_data" if update else "display_data", content)

    def clear_output(self, wait: bool = False) -> None:
        cell = self.current()
        if cell is not None:
            cell.show_python("clear_output", {"wait": wait})


class _BridgeShell(InteractiveShell):
    display_pub: BridgeDisplays  # made by IPython, of this class:
    display_pub_class = Type(BridgeDisplays)


def provide_shell(current: Current) -> None:
    """Makes the shell if there is none yet; `current` gives the cell that output belongs to."""
    if InteractiveShell.initialized():
        return
    os.environ.setdefault("MPLBACKEND", "module://matplotlib_inline.backend_inline")
    config = Config()
    config.HistoryManager.enabled = False
    shell = _BridgeShell.instance(config=config, user_module=sys.modules["__main__"])
    shell.display_pub.current = current
    assert shell.display_formatter is not None  # every shell has one; only its type says otherwise
    pictures: Any = shell.display_formatter.formatters["image/png"]
    pictures.for_type_by_name("matplotlib.figure", "Figure", _png)


def _png(figure: Any) -> Any:
    """Figures that were made without pyplot, too; its inline backend registers a better one."""
    return print_figure(figure, "png", base64=True)  # type: ignore[no-untyped-call]  # IPython's
