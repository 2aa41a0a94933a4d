"""The order: what RUN carries, from the host that wants code run to the worker that runs it.

Marshalled, because it goes one way only: the host and its worker are the same interpreter, and a
worker trusts its host. Nothing that a worker says is ever read like this.
"""

from __future__ import annotations

import marshal
from typing import Any, NamedTuple

from .frame import Buffer


class Order(NamedTuple):
    """Plain data. Values stay encoded, they are the realm's to decode; `values` is empty if none."""

    source: str
    filename: str
    language: str
    modules: dict[str, str]
    imports: dict[str, list[str]]  # the names that each lent module exports
    globals: list[str]
    builtins: tuple[str, ...]
    fn: str
    memory_limit: int  # bytes; 0 is the engine's default
    interactive: bool
    demand_export: bool
    values: str
    seed: bytes  # of random numbers
    attachments: tuple[Buffer, ...] = ()  # binary data that `values` refers to, beside the text

    def pack(self) -> bytes:
        """All but the attachments, which a frame carries as they are."""
        return marshal.dumps(tuple(self)[:-1])

    @classmethod
    def unpack(cls, data: bytes) -> Order:
        return cls(*marshal.loads(data))

    def __reduce__(self) -> tuple[Any, ...]:
        """Views of the caller's arrays are pickled as copies."""
        return Order, (*tuple(self)[:-1], tuple(map(bytes, self.attachments)))

    @property
    def wants_last_expression(self) -> bool:
        """Whether the last expression may stand for a default export that the source lacks."""
        return self.interactive and not self.demand_export and self.fn == "default"
