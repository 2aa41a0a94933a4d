"""Which runs execute and which wait for one of them to end, in the order they came."""

from __future__ import annotations

from collections import deque
from typing import Generic, TypeVar

Run = TypeVar("Run")


class Places(Generic[Run]):
    """Holds no lock: its pool does."""

    def __init__(self) -> None:
        self.executing: set[Run] = set()
        self.queue: deque[Run] = deque()

    def enter(self, run: Run, capacity: int, *, nested: bool) -> bool:
        """Whether it may execute now. One that a bridge started never waits for its own parent."""
        if len(self.executing) >= capacity and not nested:
            self.queue.append(run)
            return False
        self.executing.add(run)
        return True

    def leave(self, run: Run, capacity: int) -> Run | None:
        """It has ended; who takes its place, if anybody."""
        if run in self.executing:
            self.executing.remove(run)
        elif run in self.queue:
            self.queue.remove(run)
        if not self.queue or len(self.executing) >= capacity:
            return None
        following = self.queue.popleft()
        self.executing.add(following)
        return following

    def all(self) -> list[Run]:
        return [*self.executing, *self.queue]

    def clear(self) -> None:
        self.executing.clear()
        self.queue.clear()
