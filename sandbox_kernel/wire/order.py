"""The order: what RUN carries, from the host that wants code run to the worker that runs it.

Marshalled, because it goes one way only: the host and its worker are the same interpreter, and a
worker trusts its host. Nothing that a worker says is ever read like this.
"""

from __future__ import annotations

import marshal
from typing import NamedTuple


class Order(NamedTuple):
    """Values stay encoded, they are the realm's to decode; none were lent if `values` is empty."""

    source: str
    filename: str
    language: str
    modules: dict[str, str]
    imports: dict[str, list[str]]
    globals: list[str]
    builtins: tuple[str, ...]
    fn: str
    memory_limit: int
    interactive: bool
    demand_export: bool
    values: str
    seed: bytes  # of random numbers

    def pack(self) -> bytes:
        return marshal.dumps(tuple(self))

    @classmethod
    def unpack(cls, data: bytes) -> Order:
        return cls(*marshal.loads(data))

    @property
    def wants_last_expression(self) -> bool:
        """Whether the last expression may stand for a default export that the source lacks."""
        return self.interactive and not self.demand_export and self.fn == "default"
