"""Where output and results go: a live view in notebooks, lines of text in a terminal."""

from __future__ import annotations

import sys
import threading
from typing import TYPE_CHECKING, Any

from sandbox_kernel.budget import Budget, capped
from sandbox_kernel.clean import clean
from sandbox_kernel.contract import CodeExecutionLog, CodeExecutionResult
from sandbox_kernel.loans import Display, spelled_display
from sandbox_kernel.notebook.options.grammar import CellOptions
from sandbox_kernel.notebook.show.linecap import LineCap, Piece, Stream
from sandbox_kernel.notebook.show.output import console_line, show
from sandbox_kernel.notebook.show.result import result_bundle, result_metadata
from sandbox_kernel.values import Undefined

if TYPE_CHECKING:
    from IPython.core.interactiveshell import InteractiveShell

_LINE = 500  # characters of a report in a terminal
_ERROR = 4_000


class CellOutput:
    """The output of one cell, as its options and its front end want it."""

    def __init__(self, shell: InteractiveShell, options: CellOptions) -> None:
        has_widgets = getattr(shell, "kernel", None) is not None
        self.display = self._publish if has_widgets else None
        self._publisher = shell.display_pub
        self._prints_logs = not options.raw
        self._prints_reports = options.shows_reports and not has_widgets
        self._cap = LineCap() if has_widgets else None  # a terminal scrolls
        self._count = 0
        self._lock = threading.Lock()
        # Until the view is shown, so that it stands above what is printed.
        self._held: list[Piece] | None = [] if has_widgets and options.shows_reports else None

    def log(self, log: CodeExecutionLog) -> None:
        if self._prints_logs:
            stream: Stream = "stderr" if log.level in ("warn", "error") else "stdout"
            line = console_line(log)
            self._write(stream, line if self._cap is None else self._cap.take(stream, line))

    def report(self, value: Any) -> None:
        if self._prints_reports:
            text = show(value, budget=Budget(4 * _LINE, _LINE))
            cut = text if len(text) <= _LINE else f"{text[:_LINE]}…"
            print(f"report {self._count}: {cut}")
        self._count += 1

    def show(self, display: Display) -> None:
        """A table, chart or image of a cell; a terminal prints what stands for it."""
        if self._prints_logs:
            self._release()
            self._publisher.publish(spelled_display(display))

    def enter(self) -> None:
        """What a bridge prints comes after what the guest has printed."""
        self._release()

    def end(self) -> None:
        self._release()
        for stream, text in self._cap.rest() if self._cap is not None else ():
            self._write(stream, text)

    def _write(self, stream: Stream, text: str) -> None:
        with self._lock:
            if self._held is not None:
                self._held.append((stream, text))
                return
        (sys.stderr if stream == "stderr" else sys.stdout).write(text)

    def _release(self) -> None:
        with self._lock:
            held, self._held = self._held, None
        for piece in held or ():
            self._write(*piece)

    def cut(self) -> None:
        """Nothing to do: no output is held back here."""

    def _publish(self, bundle: dict[str, Any], display_id: str, update: bool) -> None:
        transient = {"display_id": display_id}
        self._publisher.publish(bundle, transient=transient, update=update)
        self._release()


def bundle_of(
    result: CodeExecutionResult, *_: Any, **__: Any
) -> tuple[dict[str, Any], dict[str, Any]]:
    """How IPython displays a result: as its value, in the style of a JavaScript console."""
    if result.status != "success":
        return {"text/plain": clean(capped(f"{result.status}: {result.error}", _ERROR))}, {}
    bundle = result_bundle(result.result)
    return bundle, result_metadata(bundle)


def is_shown(result: CodeExecutionResult) -> bool:
    return not isinstance(result.result, Undefined)
