"""The order: what a RUN message carries from the host to the worker.

Marshalled, because host and worker run the same interpreter and a worker trusts its host. Data
from a worker is never unmarshalled.
"""

from __future__ import annotations

import marshal
from typing import Any, NamedTuple

from .frame import Buffer


class Shim(NamedTuple):
    """A script of ours that makes lent modules of functions of the host, before the guest's code runs."""

    script: str
    modules: dict[str, str]  # specifier to the script's own name for the module
    free: tuple[str, ...]  # exports of the first of them that are free identifiers


class Order(NamedTuple):
    """Plain data. `values` is encoded for the realm to decode, and empty if nothing is lent."""

    source: str
    filename: str
    language: str
    modules: dict[str, str]
    imports: dict[str, list[str]]  # the names that each lent module exports
    globals: list[str]
    builtins: tuple[str, ...]
    fn: str
    memory_limit: int  # bytes; 0 means the engine's default
    lenient: bool  # a result that cannot cross is described instead of refused
    demand_export: bool
    values: str
    seed: bytes  # of Math.random
    stays_open: bool = False  # its exports are called until the host has had enough
    one_call_at_a_time: bool = False  # the host calls nothing else while it waits for an answer
    is_script: bool = False  # a bare script, for which `values` is its input as it is
    shims: tuple[Shim, ...] = ()
    attachments: tuple[Buffer, ...] = ()  # binary data that `values` refers to

    def pack(self, default_limit: int = 0) -> bytes:
        """Everything but the attachments, which a frame carries unchanged."""
        fields = list(self)[:-1]
        fields[_LIMIT] = self.memory_limit or default_limit
        if self.shims:
            fields[-1] = [tuple(shim) for shim in self.shims]  # marshal knows no named tuples
        return marshal.dumps(fields)

    @classmethod
    def unpack(cls, data: bytes) -> Order:
        fields: list[Any] = marshal.loads(data)
        fields[-1] = tuple(Shim(*shim) for shim in fields[-1])
        return cls(*fields)

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickles attachments as copies, because views of arrays cannot be pickled."""
        return Order, (*tuple(self)[:-1], tuple(map(bytes, self.attachments)))

    @property
    def wants_last_expression(self) -> bool:
        """Whether the last expression replaces a missing default export."""
        return not self.demand_export and self.fn == "default"


_LIMIT = Order._fields.index("memory_limit")
