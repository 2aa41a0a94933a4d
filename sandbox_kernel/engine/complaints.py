"""Mistakes of the caller's own functions that nobody awaits: told a few times, then counted.

Each would be a traceback in the log, and a guest can provoke as many as it likes, with texts of its
choosing in them.
"""

from __future__ import annotations

import asyncio
import logging
import re

from ..wire.failures import format_error

_TOLD = 5  # times of each kind
_MOST_CHARACTERS = 10_000
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")
_log = logging.getLogger("asyncio")  # where asyncio itself tells of such mistakes


class Complaints:
    """Of one run. `close` tells how many were left out."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop
        self._count: dict[str, int] = {}

    def tell(self, message: str, error: BaseException | None) -> None:
        self._count[message] = count = self._count.get(message, 0) + 1
        if count <= _TOLD:
            tell(self._loop, message, error)

    def close(self) -> None:
        for message, count in self._count.items():
            if count > _TOLD:
                tell(self._loop, f"{message}, {count - _TOLD:,} more times", None)
        self._count.clear()


def tell(loop: asyncio.AbstractEventLoop, message: str, error: BaseException | None) -> None:
    """To the loop's own handler if it has one, else to the log, without control characters."""
    if loop.is_closed() or loop.get_exception_handler() is None:
        _log.error("%s", _printable(message, error))
    else:
        loop.call_exception_handler({"message": message, "exception": error})


def _printable(message: str, error: BaseException | None) -> str:
    shown = "" if error is None else f"\n{format_error(error, error.__traceback__)}"
    left = len(shown) - _MOST_CHARACTERS
    if left > 0:
        shown = f"{shown[:_MOST_CHARACTERS]}… ({left:,} more characters)"
    return message + _CONTROL.sub(lambda found: f"\\x{ord(found[0]):02x}", shown)
