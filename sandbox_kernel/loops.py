"""Event loops for callers that have none: each run borrows a thread of its own.

A bridge that blocks forever therefore blocks its own run only. Threads are reused.
"""

from __future__ import annotations

import asyncio
import os
import threading
from collections.abc import Callable
from typing import Any

from .errors import EngineError


def on_loop(loop: asyncio.AbstractEventLoop, function: Callable[..., Any], *args: Any) -> None:
    """Calls the function now if this is the loop's own thread, and soon otherwise."""
    if asyncio._get_running_loop() is loop:
        function(*args)
    else:
        loop.call_soon_threadsafe(function, *args)


class LoopThread:
    """A daemon thread that runs an event loop."""

    def __init__(self) -> None:
        self.loop = asyncio.new_event_loop()
        try:
            threading.Thread(target=self._run, name="sandbox-run", daemon=True).start()
        except RuntimeError:
            self.loop.close()
            raise

    def _run(self) -> None:
        asyncio.set_event_loop(self.loop)
        while True:
            try:
                self.loop.run_forever()
            except (KeyboardInterrupt, SystemExit):
                pass  # raised by a bridge, which runs on this thread only


_idle: list[LoopThread] = []
_lock = threading.Lock()


def borrow() -> LoopThread:
    with _lock:
        if _idle:
            return _idle.pop()
    try:
        return LoopThread()
    except (OSError, RuntimeError) as error:  # no descriptors, no threads
        why = getattr(error, "strerror", None) or error
        raise EngineError(f"could not make an event loop for the run: {why}") from error


def give_back(thread: LoopThread) -> None:
    """Called when the run ends. A thread that is stuck in a bridge returns once it is free."""
    try:
        thread.loop.call_soon_threadsafe(_put_back, thread)
    except RuntimeError:
        pass  # the loop is closed


def _put_back(thread: LoopThread) -> None:
    with _lock:
        _idle.append(thread)


os.register_at_fork(after_in_child=_idle.clear)
