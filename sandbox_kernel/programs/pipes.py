"""The host's ends of a program's stdout and stderr."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable
from contextlib import suppress

from .place import Place
from .streams import Chunk, Stream

_CHUNK = 1 << 16


class Pipes:
    """Opened when the program begins. `pass_on` is given what is kept of both, as it comes."""

    def __init__(
        self, most: int, loop: asyncio.AbstractEventLoop, pass_on: Callable[[Chunk], None]
    ) -> None:
        """`most` bytes of each are kept."""
        self._loop = loop
        self._stdout = Stream("stdout", most, pass_on)
        self._stderr = Stream("stderr", most, pass_on)
        self._open: dict[int, Stream] = {}

    @property
    def truncated(self) -> bool:
        return self._stdout.truncated or self._stderr.truncated

    def open(self, place: Place) -> None:
        self._open = {place.stdout: self._stdout, place.stderr: self._stderr}
        for descriptor, stream in self._open.items():
            self._loop.add_reader(descriptor, self._on_readable, descriptor, stream)

    def _on_readable(self, descriptor: int, stream: Stream) -> None:
        try:
            data = os.read(descriptor, _CHUNK)
        except BlockingIOError:
            return
        except OSError:
            data = b""
        if data:
            stream.feed(data)
        else:
            self._loop.remove_reader(descriptor)

    def drain(self) -> None:
        """The program has ended: what is left in them, which nobody adds to any more."""
        opened = self._open
        self.close()
        for descriptor, stream in opened.items():
            with suppress(OSError):
                while data := os.read(descriptor, _CHUNK):
                    stream.feed(data)

    def complain(self, problem: str) -> None:
        """A line of ours for the program's stderr."""
        self._stderr.feed(f"{problem}\n".encode(errors="backslashreplace"))

    def end(self) -> None:
        self._stdout.end()
        self._stderr.end()

    def close(self) -> None:
        """Lets go of the descriptors, which are not its own. Idempotent."""
        for descriptor in self._open:
            self._loop.remove_reader(descriptor)
        self._open = {}
