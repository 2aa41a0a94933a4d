"""Which runs execute, and which wait for one of them to end.

There is room for so many at once; more wait in the order they came. A run that a bridge starts is
nested: the run that called the bridge keeps its place and may wait for it. So that they do not wait
for each other for ever, each run has one place more, for one nested run at a time; further ones
wait for that.
"""

from __future__ import annotations

from collections import deque
from contextvars import ContextVar
from sys import maxsize
from typing import Generic, TypeVar

from ..errors import EngineBusyError, EngineError

Run = TypeVar("Run")

DEEPEST = 8  # runs within each other


class Nest:
    """Stands for a run as the parent of others, without keeping anything of it alive."""

    depth = 1

    def inner(self) -> Nest:
        if self.depth == DEEPEST:
            raise EngineError(f"runs may be nested {DEEPEST} deep, and not deeper")
        nest = Nest()
        nest.depth = self.depth + 1
        return nest


# Of the run whose bridge is being called, if any.
current_nest: ContextVar[Nest | None] = ContextVar("current_nest", default=None)


class Places(Generic[Run]):
    """Holds no lock: its pool does."""

    def __init__(self) -> None:
        self.executing: set[Run] = set()
        self._queue: deque[Run] = deque()
        self._nested: dict[Run, Nest] = {}  # in the extra place of its parent
        self._taken: set[Nest] = set()
        self._siblings: dict[Nest, deque[Run]] = {}  # that wait for that place

    @property
    def queued(self) -> int:
        return len(self._queue) + sum(map(len, self._siblings.values()))

    def enter(
        self, run: Run, capacity: int, parent: Nest | None = None, *, most: int = maxsize
    ) -> bool:
        """Whether it may execute now. At most `most` wait in the queue, and for each parent."""
        if len(self.executing) < capacity:
            self.executing.add(run)
        elif parent is None:
            self._wait_in(self._queue, run, most)
        elif parent in self._taken:
            siblings = self._siblings.get(parent, deque())
            self._wait_in(siblings, run, most)
            self._siblings[parent] = siblings
        else:
            self._nest(run, parent)
        return run in self.executing

    def _wait_in(self, queue: deque[Run], run: Run, most: int) -> None:
        if len(queue) >= most:
            raise EngineBusyError(
                f"the engine is busy: {len(self.executing):,} runs execute and {len(queue):,} wait;"
                " try again later, or raise Engine.concurrency or Engine.max_queued"
            )
        queue.append(run)

    def leave(self, run: Run, capacity: int) -> Run | None:
        """It has ended; who executes instead, if anybody."""
        parent = self._nested.pop(run, None)
        if run in self.executing:
            self.executing.remove(run)
        else:
            self._stop_waiting(run)
        if parent is not None:
            self._taken.discard(parent)
            return self._next_sibling(parent)
        if len(self.executing) >= capacity:
            return None
        if self._queue:
            following = self._queue.popleft()
            self.executing.add(following)
            return following
        return self._next_sibling(next(iter(self._siblings))) if self._siblings else None

    def _nest(self, run: Run, parent: Nest) -> None:
        self._nested[run] = parent
        self._taken.add(parent)
        self.executing.add(run)

    def _next_sibling(self, parent: Nest) -> Run | None:
        siblings = self._siblings.get(parent)
        if not siblings:
            return None
        following = siblings.popleft()
        if not siblings:
            del self._siblings[parent]
        if parent in self._taken:
            self.executing.add(following)
        else:
            self._nest(following, parent)
        return following

    def _stop_waiting(self, run: Run) -> None:
        if run in self._queue:
            self._queue.remove(run)
            return
        for parent, siblings in self._siblings.items():
            if run in siblings:
                siblings.remove(run)
                if not siblings:
                    del self._siblings[parent]
                return

    def clear(self) -> None:
        self.executing.clear()
        self._queue.clear()
        self._nested.clear()
        self._taken.clear()
        self._siblings.clear()
