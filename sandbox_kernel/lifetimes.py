"""What has processes of its own: closed at the interpreter's end, forgotten in a fork of it."""

from __future__ import annotations

import atexit
import os
import weakref
from typing import Protocol


class Pool(Protocol):
    def close(self) -> None:
        """Ends its processes."""

    def forget(self) -> None:
        """They belong to the parent."""


_open: weakref.WeakSet[Pool] = weakref.WeakSet()


def opened(pool: Pool) -> None:
    _open.add(pool)


def closed(pool: Pool) -> None:
    _open.discard(pool)


@atexit.register
def _close_all() -> None:
    for pool in list(_open):
        pool.close()


def _forget_all() -> None:
    for pool in list(_open):
        pool.forget()


os.register_at_fork(after_in_child=_forget_all)
