"""Where reports and results go: a live view in notebooks, lines of text in a terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sandbox_kernel.contract import CodeExecutionResult
from sandbox_kernel.notebook.show.clean import clean
from sandbox_kernel.notebook.show.output import mimebundle, show, tree_metadata
from sandbox_kernel.notebook.show.table import records_table
from sandbox_kernel.notebook.view.run_view import RunView, Watchable
from sandbox_kernel.values import Undefined

if TYPE_CHECKING:
    from IPython.core.interactiveshell import InteractiveShell

_LINE = 500


class Reports:
    """A sink for one run's reports, as its options and its front end want it."""

    def __init__(self, shell: InteractiveShell, wanted: bool) -> None:
        has_widgets = getattr(shell, "kernel", None) is not None
        self._publisher = shell.display_pub
        self._as_view = wanted and has_widgets
        self._as_text = wanted and not has_widgets
        self._count = 0

    def watch(self, run: Watchable) -> RunView | None:
        return RunView.watch(run, self._publish) if self._as_view else None

    def take(self, value: Any) -> None:
        """The `report` of a run; views read them from the run itself."""
        if self._as_text:
            text = show(value)
            cut = text if len(text) <= _LINE else f"{text[:_LINE]}…"
            print(f"report {self._count}: {cut}")
        self._count += 1

    def _publish(self, bundle: dict[str, Any], display_id: str, update: bool) -> None:
        transient = {"display_id": display_id}
        self._publisher.publish(bundle, transient=transient, update=update)


def display_result(shell: InteractiveShell, result: CodeExecutionResult) -> None:
    """What the kernel shows besides the result itself: records as a table."""
    table = records_table(result.result, show)
    if table is not None:
        shell.display_pub.publish({"text/plain": table})


def bundle_of(
    result: CodeExecutionResult, *_: Any, **__: Any
) -> tuple[dict[str, Any], dict[str, Any]]:
    """How IPython displays a result: as its value, in the style of a JavaScript console."""
    if result.status != "success":
        return {"text/plain": clean(f"{result.status}: {result.error}")}, {}
    return mimebundle(result.result), tree_metadata(result.result)


def is_shown(result: CodeExecutionResult) -> bool:
    return not isinstance(result.result, Undefined)
