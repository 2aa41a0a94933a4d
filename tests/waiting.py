"""Waiting for something that has no event to wait for."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from typing import Any


def until(condition: Callable[[], Any], seconds: float = 20) -> bool:
    """Whether it came true; the limit is generous, because it measures nothing."""
    deadline = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.01)
    return True


async def eventually(condition: Callable[[], Any], seconds: float = 20) -> bool:
    """`until`, for tests whose loop has to go on meanwhile."""
    deadline = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > deadline:
            return False
        await asyncio.sleep(0.01)
    return True
