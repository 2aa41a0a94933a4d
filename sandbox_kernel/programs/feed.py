"""Writes to a pipe or socket of a program as fast as it reads, and never waits for it."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable

_STEP = 1 << 18


class Feed:
    """Calls `done` when all is written, or nobody reads any more; at once if it can."""

    def __init__(
        self,
        loop: asyncio.AbstractEventLoop,
        descriptor: int,
        data: bytes,
        done: Callable[[], None] = lambda: None,
    ) -> None:
        self._loop = loop
        self._descriptor = descriptor
        self._rest = memoryview(data)
        self._done = done
        self._waits = False
        self._write()

    def _write(self) -> None:
        try:
            while self._rest:
                self._rest = self._rest[os.write(self._descriptor, self._rest[:_STEP]) :]
        except BlockingIOError:
            if not self._waits:
                self._waits = True
                self._loop.add_writer(self._descriptor, self._write)
            return
        except OSError:
            pass  # the program closed its end
        self.cancel()
        self._done()

    def cancel(self) -> None:
        self._rest = memoryview(b"")
        if self._waits:
            self._waits = False
            self._loop.remove_writer(self._descriptor)
