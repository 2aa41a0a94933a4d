"""Encodes Python values for the guest: what it is lent, arguments, and results of calls."""

from __future__ import annotations

from typing import Any

from ..values import MAX_SAFE_INTEGER
from .dump import dump, dump_table
from .failures import error_node
from .frame import Buffer
from .jsonlike import plain_containers
from .tabulate import Lender, Tabulator


def encode(value: Any, path: str, lender: Lender | None) -> tuple[str, list[Buffer]]:
    """The wire text and its attachments; `path` names the root in a SerializationError."""
    kind = type(value)
    if kind is int and -MAX_SAFE_INTEGER <= value <= MAX_SAFE_INTEGER:
        return f"P{value}", []
    if kind in _SIMPLE or plain_containers(value) is not None:
        return "P" + dump(value), []
    tabulator = Tabulator(path, lender)
    table = tabulator.table(value)
    return "T" + dump_table(table, tabulator.spelled), tabulator.attachments


_SIMPLE = (str, bool, type(None))


def encode_error(error: BaseException) -> str:
    """The wire text of an exception: its name, its message and its code, if that is a text."""
    return "T" + dump([[0], error_node(error)])
