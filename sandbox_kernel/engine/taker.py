"""Taker: what a pool knows of whoever takes a worker."""

from __future__ import annotations

import asyncio
from typing import Any, Protocol

from ..contract import CodeExecutionError
from .worker import Worker


class Taker(Protocol):
    """A conversation here, or a relay to one elsewhere."""

    loop: asyncio.AbstractEventLoop

    def attach(self, worker: Worker) -> bool:
        """Starts using it; False if the worker is dead, so that another may be tried."""

    def terminate(self, reason: str | None) -> None:
        """Ends it, whatever it is doing."""

    def abandon(self, message: str) -> None:
        """Nobody will execute it any more."""

    def fail(self, error: CodeExecutionError) -> None:
        """No worker can be had."""

    def is_stuck(self) -> bool:
        """Whether its worker was stopped before it said anything."""

    def handle(self) -> Any:
        """What the caller holds of it; None if nobody here holds anything."""
