"""Sends messages on a program's channel, one at a time, whichever thread they come from."""

from __future__ import annotations

import os
import threading

from ...wire.frame import pack
from .descriptors import CHANNEL

_lock = threading.Lock()


def send(kind: int, text: bytes, number: int = 0) -> None:
    rest = memoryview(b"".join(bytes(part) for part in pack(kind, number, text=text)))
    with _lock:
        while rest:
            rest = rest[os.write(CHANNEL, rest) :]
