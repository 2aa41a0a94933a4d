"""The live run view: watches a run, shows itself when there is something to see, and ends with it.

A thread of its own watches, so that the view moves while a cell blocks the notebook's loop, and
nothing of it is on the path of a short run. It looks at the run 20 times a second, and less often
when an update was large: Jupyter's server drops output beyond about a megabyte a second.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from contextlib import suppress
from contextvars import copy_context
from typing import TYPE_CHECKING, Any, Protocol
from uuid import uuid4

from ...calls import Call
from ...contract import CodeExecutionLog, CodeExecutionResult
from .call_rows import CallRows
from .still import error_line, still_bundle, unfinished_bundle
from .tally import Tally, weight
from .veil import veiled

if TYPE_CHECKING:
    from collections.abc import Sequence

    from .widget import RunWidget

TICK = 0.05  # seconds between two updates, at least
PATIENCE = 0.5  # a run without reports shows its view after this
BEAT = 0.25  # seconds between two updates that only tell the time
KEYFRAME = 2.0  # seconds between two updates that carry the whole window
BATCH = 50  # new reports in one update, at most; the newest of them
RATE = 300_000  # characters a second, about

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
    def calls(self) -> Sequence[Call]: ...
    @property
    def memory_used_bytes(self) -> int | None: ...
    def terminate(self, reason: str | None = None) -> None: ...


class Questions(Protocol):
    """What a person is asked during the run."""

    version: int

    @property
    def is_open(self) -> bool: ...
    @property
    def cards(self) -> list[dict[str, Any]]: ...
    def drawn(self, idents: Any) -> None: ...
    def answer(self, ident: Any, choice: Any) -> None: ...


class RunView:
    """One run's view; `watch` starts it, `finish` gives it its final state."""

    def __init__(
        self,
        run: Watchable,
        publish: Publish,
        says_error: bool = False,
        desk: Questions | None = None,
        patience: float = PATIENCE,
    ) -> None:
        """`says_error` is for runs whose failure is told nowhere else.

        A run that neither reports nor asks anything shows its view after `patience` seconds.
        """
        self._run: Watchable | None = run
        self._desk = desk
        self._asked = 0  # the version of the questions that was drawn
        self._calls = CallRows()
        self._publish = publish
        self._says_error = says_error
        self._patience = patience
        self._tally = Tally()
        self._started = time.monotonic()
        self._still_id = uuid4().hex
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
    def watch(cls, *given: Any, **named: Any) -> RunView:
        """Start watching; call `finish` when the run is over."""
        view = cls(*given, **named)
        view._thread.start()
        return view

    def finish(self, result: CodeExecutionResult) -> None:
        """Show the final state, live and still.

        Never fails, and lets go of the run and of all that it said: a page, and with it the widget,
        may outlive them by days.
        """
        self._over.set()
        self._thread.join()
        try:
            self._show_end(result)
        except Exception as fault:
            text = f"Run view: cannot be shown ({type(fault).__name__})"
            self._publish({"text/plain": text}, self._still_id, self._widget is not None)
        finally:
            self._let_go()

    def _show_end(self, result: CodeExecutionResult) -> None:
        self._tally.take(result.reports, result.logs)
        if self._widget is None and not self._is_due():
            return
        widget = self._shown()
        with widget.hold_sync():
            self._draw(widget, self._ending(result))
            widget.window = veiled(self._window())
            widget.asks = []
            if self._run is not None:
                widget.calls = veiled(self._calls.drawn(self._run.calls))
        still = still_bundle(widget.model_id, result, self._tally)
        self._publish(still, self._still_id, True)
        widget.send({"kind": "still", "data": still})

    def _let_go(self) -> None:
        if self._widget is not None:
            self._widget.retire()
        self._run = None
        self._tally = Tally()

    def _follow(self) -> None:
        run = self._run
        assert run is not None
        pause = TICK
        with suppress(Exception):  # the end is shown all the same
            while not self._over.wait(pause) and run.running:
                news = self._tally.take(run.reports, run.logs)
                if self._is_due():
                    widget = self._shown()
                    pause = max(TICK, self._update(widget, news) / RATE)
                    self._show_questions(widget)

    def _is_due(self) -> bool:
        late = time.monotonic() - self._started >= self._patience
        asks = self._desk is not None and self._desk.is_open
        return late or asks or self._tally.reports.count > 0

    def _show_questions(self, widget: RunWidget) -> None:
        desk = self._desk
        if desk is not None and desk.version != self._asked:
            self._asked = desk.version
            widget.asks = veiled(desk.cards)

    def _shown(self) -> RunWidget:
        if self._widget is None:
            from .widget import RunWidget

            self._widget = RunWidget(self._terminate, self._desk)
            self._draw(self._widget, {"status": "running"})
            self._publish(self._widget.bundle(), uuid4().hex, False)
            self._publish(unfinished_bundle(self._widget.model_id), self._still_id, False)
        return self._widget

    def _terminate(self) -> None:
        if self._run is not None:
            self._run.terminate("Terminate button")

    def _update(self, widget: RunWidget, news: bool) -> int:
        """Send what is new; how large it was."""
        now = time.monotonic()
        if not news and now - self._beat_at < BEAT:
            return 0
        self._beat_at = now
        with widget.hold_sync():
            self._draw(widget, {"status": "running"})
            size = weight(widget.plot) + weight(widget.progress)
            if self._run is not None and self._calls.are_due(self._run.calls):
                widget.calls = veiled(self._calls.drawn(self._run.calls))
                size += weight(widget.calls)
            if news and now - self._keyframe_at >= KEYFRAME:
                self._keyframe_at = now
                widget.window = veiled(self._window())
                return size + weight(widget.window)
        if news:
            batch = veiled(self._batch())
            widget.send({"kind": "batch", **batch})
            size += weight(batch)
        return size

    def _draw(self, widget: RunWidget, state: dict[str, Any]) -> None:
        tally = self._tally
        widget.head = {
            "id": widget.model_id,
            "elapsed_ms": round((time.monotonic() - self._started) * 1000),
            "memory": self._run.memory_used_bytes if self._run is not None else None,
            "reports": tally.reports.count,
            "listed": tally.reports.listed,
            "logs": tally.logs.count,
            **state,
        }
        widget.progress = veiled(tally.progress())
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

    def _ending(self, result: CodeExecutionResult) -> dict[str, Any]:
        ending: dict[str, Any] = {
            "status": result.status,
            "elapsed_ms": round(result.duration_ms),
            "memory": result.memory_used_bytes,
        }
        if result.error is not None and self._says_error:
            ending["error"] = veiled(error_line(result.error))
        return ending
