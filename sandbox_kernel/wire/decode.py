"""Values that a worker sent, as Python's: hostile input, byte for byte."""

from __future__ import annotations

import itertools
import json
import struct
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from ..errors import ProtocolError
from .columns import LINES, decode_columns, swelling
from .frame import Buffer
from .table import Borrower, decode_table


def weight(text: Buffer, attachments: Sequence[Buffer]) -> int:
    """About what a message takes in memory once decoded: told without decoding it."""
    raw = text if type(text) is bytes else bytes(text)
    containers = raw.count(b"[") + 2 * raw.count(b"{")
    size = 128 + len(raw) + 64 * containers + 40 * raw.count(b",") + swelling(raw)
    if not raw.isascii():
        size += 3 * len(raw)
    return size + sum(map(len, attachments)) + 200 * len(attachments)


def decode_lines(
    text: Buffer, borrower: Callable[[str], Borrower | None]
) -> Iterator[tuple[str, Any]]:
    """A letter and a value for each line; plain ones next to each other are read in one go."""
    try:
        whole = str(text, "utf-8", "strict")
    except ValueError as error:
        raise ProtocolError(f"lines that are no text: {error}") from None
    *lines, last = whole.split("\n")
    if last:
        raise ProtocolError("a last line that does not end")
    if whole.startswith("RP") and whole.count("\nRP") == len(lines) - 1:
        values = _plain_values(whole[2:-1].replace("\nRP", ","), len(lines))
        yield from zip(itertools.repeat("R"), values, strict=False)
        return
    for plain, group in itertools.groupby(lines, lambda line: line[1:2] == "P"):
        if plain:
            some = list(group)
            values = _plain_values(",".join(line[2:] for line in some), len(some))
            yield from zip((line[0] for line in some), values, strict=True)
            continue
        for line in group:
            letter = line[:1]
            if letter not in LINES:
                raise ProtocolError("a line that is neither report nor log")
            yield letter, decode(line[1:], (), borrower(letter), ordered=letter == "L")


def _plain_values(texts: str, count: int) -> list[Any]:
    try:
        found: list[Any] = json.loads(f"[{texts}]")
    except _UNREADABLE as error:
        raise ProtocolError(f"a value that cannot be read: {error}") from None
    if len(found) != count:
        raise ProtocolError("a line that is not one value")
    return found


def decode(
    text: str | Buffer,
    attachments: Sequence[Buffer],
    borrower: Borrower | None,
    *,
    ordered: bool = False,
) -> Any:
    """The value a worker sent. Any bytes whatever end in a value or in a ProtocolError.

    `ordered` is for values to be shown: Sets keep their order, which Python's do not.
    """
    try:
        form, rest = _split_form(text)
        if form == "C":
            return decode_columns(rest, attachments, ordered)
        parsed = json.loads(rest)
        if form == "P":
            return parsed
        if form == "T" and isinstance(parsed, list) and parsed:
            return decode_table(parsed, attachments, borrower, ordered)
    except _UNREADABLE as error:
        raise ProtocolError(f"a value that cannot be read: {str(error)[:200]}") from None
    raise ProtocolError("a value of unknown form")


_UNREADABLE = (
    ValueError, TypeError, KeyError, IndexError, RecursionError, OverflowError, StopIteration,
    struct.error,
)  # fmt: skip


def _split_form(text: str | Buffer) -> tuple[str, str]:
    whole = text if isinstance(text, str) else str(text, "utf-8", "strict")
    return whole[:1], whole[1:]
