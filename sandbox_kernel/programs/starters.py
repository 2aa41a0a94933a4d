"""Threads for what may take seconds, so that nobody else waits for it; each ends with its work."""

from __future__ import annotations

import threading
from collections.abc import Callable


class Starters:
    """True while there are any. Work is begun by one thread; `ended` is called after each."""

    def __init__(self, ended: Callable[[], None]) -> None:
        self._ended = ended
        self._threads: set[threading.Thread] = set()

    def __bool__(self) -> bool:
        return bool(self._threads)

    def begin(self, work: Callable[[], None]) -> None:
        """In a thread of its own, or at once if there can be no more."""

        def run() -> None:
            try:
                work()
            finally:
                self._threads.discard(thread)
                self._ended()

        thread = threading.Thread(target=run, name="sandbox-programs-starter", daemon=True)
        self._threads.add(thread)
        try:
            thread.start()
        except RuntimeError:
            run()

    def join(self, seconds: float) -> None:
        for thread in list(self._threads):
            if thread is not threading.current_thread():
                thread.join(seconds)

    def forget(self) -> None:
        """In a fork of the host, which has none of them."""
        self._threads.clear()
