"""The live run view: watches a run, shows itself when there is something to see, and ends with it.

A thread of its own watches, so that the view moves while a cell blocks the notebook's loop, and
nothing of it is on the path of a short run. It looks at the run 20 times a second, and less often
when an update was large: Jupyter's server drops output beyond about a megabyte a second.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from contextvars import copy_context
from typing import TYPE_CHECKING, Any, Protocol
from uuid import uuid4

from ...contract import CodeExecutionLog, CodeExecutionResult
from ..show.clean import clean_line
from ..show.output import show
from .tally import Tally, weight

if TYPE_CHECKING:
    from collections.abc import Sequence

    from .widget import RunWidget

TICK = 0.05  # seconds between two updates, at least
PATIENCE = 0.5  # a run without reports shows its view after this
BEAT = 0.25  # seconds between two updates that only tell the time
KEYFRAME = 2.0  # seconds between two updates that carry the whole window
BATCH = 50  # new reports in one update, at most; the newest of them
RATE = 300_000  # characters a second, about
LISTED = 200  # reports in the text for front ends without widgets
LISTED_TEXT = 500  # and characters of each

Publish = Callable[[dict[str, Any], str, bool], None]
"""Shows a MIME bundle under a display id, or updates what is shown there."""


class Watchable(Protocol):
    """What the view needs of a run."""

    @property
    def running(self) -> bool: ...
    @property
    def reports(self) -> Sequence[Any]: ...
    @property
    def logs(self) -> Sequence[CodeExecutionLog]: ...
    @property
    def memory_used_bytes(self) -> int | None: ...
    def terminate(self, reason: str | None = None) -> None: ...


class RunView:
    """One run's view; `watch` starts it, `finish` gives it its final state."""

    def __init__(self, run: Watchable, publish: Publish) -> None:
        self._run = run
        self._publish = publish
        self._tally = Tally()
        self._started = time.monotonic()
        self._display_id = uuid4().hex
        self._widget: RunWidget | None = None
        self._sent = (0, 0)
        self._keyframe_at = 0.0
        self._beat_at = 0.0
        self._over = threading.Event()
        # The copied context carries the cell that output belongs to.
        self._thread = threading.Thread(
            target=copy_context().run, args=(self._follow,), name="run view", daemon=True
        )

    @classmethod
    def watch(cls, run: Watchable, publish: Publish) -> RunView:
        """Start watching; call `finish` when the run is over."""
        view = cls(run, publish)
        view._thread.start()
        return view

    def finish(self, result: CodeExecutionResult) -> None:
        """Show the final state: everything reported, and text for front ends without widgets."""
        self._over.set()
        self._thread.join()
        self._tally.take(result.reports, result.logs)
        if self._widget is None and not self._is_due():
            return
        widget = self._shown()
        with widget.hold_sync():
            self._draw(widget, _ending(result))
            widget.window = self._window()
        self._publish(widget.bundle(plain_text(result)), self._display_id, True)

    def _follow(self) -> None:
        pause = TICK
        while not self._over.wait(pause) and self._run.running:
            news = self._tally.take(self._run.reports, self._run.logs)
            if self._is_due():
                pause = max(TICK, self._update(self._shown(), news) / RATE)

    def _is_due(self) -> bool:
        late = time.monotonic() - self._started >= PATIENCE
        return late or self._tally.reports.count > 0

    def _shown(self) -> RunWidget:
        if self._widget is None:
            from .widget import RunWidget

            self._widget = RunWidget(lambda: self._run.terminate("Terminate button"))
            self._draw(self._widget, {"status": "running"})
            self._publish(self._widget.bundle("Run view: running"), self._display_id, False)
        return self._widget

    def _update(self, widget: RunWidget, news: bool) -> int:
        """Send what is new; how large it was."""
        now = time.monotonic()
        if not news and now - self._beat_at < BEAT:
            return 0
        self._beat_at = now
        with widget.hold_sync():
            self._draw(widget, {"status": "running"})
            size = weight(widget.plot) + weight(widget.progress)
            if news and now - self._keyframe_at >= KEYFRAME:
                self._keyframe_at = now
                widget.window = self._window()
                return size + weight(widget.window)
        if news:
            batch = self._batch()
            widget.send({"kind": "batch", **batch})
            size += weight(batch)
        return size

    def _draw(self, widget: RunWidget, state: dict[str, Any]) -> None:
        tally = self._tally
        widget.head = {
            "id": widget.model_id,
            "elapsed_ms": round((time.monotonic() - self._started) * 1000),
            "memory": self._run.memory_used_bytes or None,
            "reports": tally.reports.count,
            "logs": tally.logs.count,
            **state,
        }
        widget.progress = tally.progress()
        widget.plot = tally.plot.drawn()

    def _window(self) -> dict[str, Any]:
        self._sent = (self._tally.reports.count, self._tally.logs.count)
        return {"reports": self._tally.reports.since(0), "logs": self._tally.logs.since(0)}

    def _batch(self) -> dict[str, Any]:
        (reports, logs), tally = self._sent, self._tally
        self._sent = (tally.reports.count, tally.logs.count)
        return {
            "reports": tally.reports.since(reports, BATCH),
            "logs": tally.logs.since(logs, BATCH),
        }


def _ending(result: CodeExecutionResult) -> dict[str, Any]:
    ending: dict[str, Any] = {
        "status": result.status,
        "elapsed_ms": round(result.duration_ms),
        "memory": result.memory_used_bytes,
    }
    if result.error is not None:
        ending["error"] = clean_line(str(result.error)[:500])
    return ending


def plain_text(result: CodeExecutionResult) -> str:
    """What a notebook without widgets shows: how the run went, and its reports."""
    total = len(result.reports)
    reports = "1 report" if total == 1 else f"{total:,} reports"
    lines = [f"Run: {result.status} after {result.duration_ms / 1000:.1f} s, {reports}"]
    if result.error is not None:
        lines.append(clean_line(str(result.error)[:500]))
    first = max(0, total - LISTED)
    if first:
        lines.append(f"… {first:,} earlier reports")
    lines += [f"[{at}] {_short(report)}" for at, report in enumerate(result.reports[first:], first)]
    return "\n".join(lines)


def _short(report: Any) -> str:
    text = show(report)
    return text if len(text) <= LISTED_TEXT else f"{text[:LISTED_TEXT]}…"
