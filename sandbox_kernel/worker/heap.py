"""The limit of a realm's heap.

Guest code is stopped soon after the heap exceeds its limit; a little above the limit the engine
refuses to allocate. The host decides whether the heap was really full.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from .quickjs import Context

# How far the heap may exceed its limit, so that exceeding it can be detected: also by the host, who does
# not see what fits into memory that the zygote had left over, up to 2 MiB (a large page).
HEADROOM = 4 << 20
_FIRST_COLLECTION = 4 << 20


class Heap:
    """Measures and limits the heap; what it holds before the guest's code starts is not counted."""

    def __init__(self, js: Context) -> None:
        self._js = js
        self._size = js.heap_probe()
        self._empty = self._limit = self._cap = 0
        self.was_over = False

    def count_from_here(self) -> None:
        self._empty = self._js.heap_size()

    def limit(self, size: int) -> None:
        js = self._js
        self._limit = self._empty + size
        self._cap = self._limit + max(HEADROOM, size // 8)
        js.limit_heap(self._cap)
        js.collect_first_at(self._empty + min(size // 2, _FIRST_COLLECTION))

    def is_over(self) -> bool:
        """Whether the heap exceeds its limit, or did at an earlier check."""
        if self._size is not None and self._limit and self._size() > self._limit:
            self.was_over = True
        return self.was_over

    def note_exhaustion(self) -> None:
        """What the host sent had no room. Its remains may be gone before anybody measures."""
        self.was_over = True

    def room(self) -> int:
        """How much it may still grow."""
        return self._limit - self._size() if self._size is not None else 0

    def kilobytes(self) -> int:
        return self._size() // 1024 if self._size is not None else 0

    @contextmanager
    def without_limit(self) -> Iterator[None]:
        """Suspends the engine's limit."""
        self._js.limit_heap(0)
        try:
            yield
        finally:
            self._js.limit_heap(self._cap)
