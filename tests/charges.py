"""What a test's decoded values are charged to."""

from __future__ import annotations


def anything(size: int) -> None:
    """No cap at all."""


class Bill:
    """Adds up what is charged."""

    def __init__(self) -> None:
        self.total = 0

    def charge(self, size: int) -> None:
        self.total += size
