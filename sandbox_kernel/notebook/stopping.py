"""What the cells of a notebook have in common, whatever they execute: they can be stopped."""

from __future__ import annotations

from contextlib import AbstractContextManager
from typing import Protocol

from .interrupts import Guard


class Cuttable(Protocol):
    def cut(self) -> None:
        """The cell was stopped: do not wait for output that is not sent yet. From any thread."""


class StoppableCell:
    """`end` is what ends the run, program or agent of a cell, if it has begun."""

    def __init__(self, guard: Guard, output: Cuttable) -> None:
        self._guard = guard
        self._cuttable = output
        self.stopped_by: str | None = None

    def end(self, reason: str) -> None:
        """From any thread or signal handler."""
        raise NotImplementedError

    def stop(self, reason: str) -> None:
        """Callable from any thread or signal handler; only the first reason counts."""
        if self.stopped_by is not None:
            return
        self.stopped_by = reason
        self.end(reason)
        self._cuttable.cut()
        self._guard.break_in()  # last, because it raises in a signal handler

    def interruptible(self) -> AbstractContextManager[None]:
        """Inside it, SIGINT stops the cell instead of raising in whatever the loop is executing."""
        return self._guard.installed()
