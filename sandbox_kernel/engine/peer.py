"""Peer: what a conversation asks of its worker, whether that is a process here or one elsewhere."""

from __future__ import annotations

import socket
from collections.abc import Callable, Sequence
from typing import NamedTuple, Protocol, TypeAlias

from ..backend import Outcome
from ..wire.control import Record
from ..wire.frame import Buffer


class Lost(NamedTuple):
    """The way to a worker elsewhere is gone, and nobody knows how that worker ends.

    `outcome` is how its run ends, unless it has said nothing yet and may begin `again` with another.
    """

    outcome: Outcome
    again: bool


End: TypeAlias = Record | Lost | None  # None: nobody knows


class Peer(Protocol):
    """`Worker` is one, `DistantWorker` another. `kill` and `close` may come from any thread."""

    socket: socket.socket
    descriptor: int
    lingers: bool
    """Whether looking for its next word for a moment is cheaper than sleeping until it comes."""

    def limit_address_space(self, extra: int) -> Sequence[Buffer]:
        """Called before its order is sent; what is sent ahead of that."""

    def kill(self) -> None: ...
    def growth(self) -> int | None: ...
    def processor_seconds(self) -> float | None: ...
    def is_stopped(self) -> bool: ...
    def when_exited(self, callback: Callable[[End], None]) -> None: ...
    def close(self) -> None: ...
