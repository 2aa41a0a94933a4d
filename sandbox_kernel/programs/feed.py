"""Writes to a pipe or socket of a program as fast as it reads, and never waits for it."""

from __future__ import annotations

import asyncio
import os
from collections import deque
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
        self._rest = deque([memoryview(data)])
        self._done = done
        self._waits = False
        self._write()

    @property
    def waiting(self) -> int:
        """Bytes that are not written yet."""
        return sum(map(len, self._rest))

    def add(self, data: bytes) -> None:
        """To be written after all that is waiting."""
        self._rest.append(memoryview(data))
        if not self._waits:
            self._write()

    def _write(self) -> None:
        try:
            while self._rest:
                rest = self._rest[0]
                rest = rest[os.write(self._descriptor, rest[:_STEP]) :] if rest else rest
                if rest:
                    self._rest[0] = rest
                else:
                    self._rest.popleft()
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
        self._rest.clear()
        if self._waits:
            self._waits = False
            self._loop.remove_writer(self._descriptor)
