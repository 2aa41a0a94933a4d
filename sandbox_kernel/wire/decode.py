"""Decodes values that a worker sent. Every byte of them is hostile input.

Short messages are decoded at once. Long ones are decoded in steps, so that the host's loop goes on
meanwhile; what they will occupy is charged slice by slice, before it is made.
"""

from __future__ import annotations

import itertools
import json
import struct
from collections.abc import Callable, Generator, Iterator, Sequence
from typing import Any

from ..errors import ProtocolError
from .columns import LINES, declared_size, decode_columns
from .frame import Buffer
from .slices import WINDOW, Charge, Steps, finish, parse
from .table import Borrower, decode_table
from .weight import LONGEST_HEAD, lines_swell, weight_of_lines, weight_of_text

LARGE = WINDOW  # bytes of text from which on a message is decoded in steps
_scan: Any = json.JSONDecoder().scan_once  # type: ignore[attr-defined]  # its types leave it out


def decode_lines(
    text: Buffer, borrower: Callable[[str], Borrower | None], charge: Charge
) -> Iterator[tuple[str, Any]]:
    """Yields a letter and a value for each line; adjacent plain values are parsed together."""
    try:
        whole = str(text, "utf-8", "strict")
    except ValueError as error:
        raise ProtocolError(f"the lines are not valid UTF-8: {error}") from None
    *lines, last = whole.split("\n")
    if last:
        raise ProtocolError("the last line is incomplete")
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
            letter = _letter(line[:1])
            yield letter, decode(line[1:], (), borrower(letter), charge, ordered=letter == "L")


def decode_lines_in_steps(
    text: bytes | bytearray, borrower: Callable[[str], Borrower | None], charge: Charge
) -> Generator[tuple[str, Any] | None, None, None]:
    """The same for a long text; None is a pause."""
    start = 0
    while start < len(text):
        end = text.rfind(b"\n", start, start + LARGE) + 1
        if end and lines_swell(text[start:end]):
            yield from _decode_each_line(text[start:end], borrower, charge)
        elif end:
            charge(weight_of_lines(text[start:end]))
            yield from decode_lines(text[start:end], borrower, charge)
            yield None
        else:
            end = text.find(b"\n", start) + 1
            if not end:
                raise ProtocolError("the last line is incomplete")
            yield from _decode_each_line(text[start:end], borrower, charge)
        start = end


def _decode_each_line(
    text: bytes | bytearray, borrower: Callable[[str], Borrower | None], charge: Charge
) -> Generator[tuple[str, Any] | None, None, None]:
    for line in text[:-1].split(b"\n"):
        letter = _letter(chr(line[0]) if line else "")
        lender = borrower(letter)
        value = yield from decode_in_steps(line[1:], (), lender, charge, ordered=letter == "L")
        yield letter, value


def _letter(letter: str) -> str:
    if letter not in LINES:
        raise ProtocolError("a line is neither report nor log")
    return letter


def _plain_values(texts: str, count: int) -> list[Any]:
    try:
        found: list[Any] = json.loads(f"[{texts}]")
    except _UNREADABLE as error:
        raise ProtocolError(f"a value cannot be decoded: {error}") from None
    if len(found) != count:
        raise ProtocolError("a line does not contain exactly one value")
    return found


def decode(
    text: str | Buffer,
    attachments: Sequence[Buffer],
    borrower: Borrower | None,
    charge: Charge,
    *,
    ordered: bool = False,
) -> Any:
    """The value that a worker sent. Returns a value or raises ProtocolError for any input.

    What the text weighs has been charged; `charge` is told what that does not show.
    `ordered` is for values to be displayed: Sets become JSSet, because a Python set has no order.
    """
    try:
        whole = text if isinstance(text, str) else str(text, "utf-8", "strict")
        form = whole[:1]
        if form == "P":
            return _json(whole, 1)
        start = whole.find("[", 0, LONGEST_HEAD)
        table = _json(whole, start)
        head = whole[1:start]
        return finish(_from_table(form, head, table, attachments, borrower, charge, ordered))
    except _UNREADABLE as error:
        raise _unreadable(error) from None


def _json(text: str, start: int) -> Any:
    """`json.loads(text[start:])` without its copy, its calls, and blanks, which no worker sends."""
    try:
        value, end = _scan(text, start)
    except StopIteration:
        raise ValueError("there is no value") from None
    if end != len(text):
        raise ValueError("there is more than one value")
    return value


def decode_in_steps(
    text: bytes | bytearray,
    attachments: Sequence[Buffer],
    borrower: Borrower | None,
    charge: Charge,
    *,
    ordered: bool = False,
) -> Steps:
    """The same for a long text, which is charged slice by slice."""
    try:
        form = chr(text[0])
        if form == "P":
            return (yield from parse(text, charge, 1))
        start = text.find(b"[", 0, LONGEST_HEAD)
        head = text[1:start].decode("utf-8", "strict")
        charge(weight_of_text(text[:LONGEST_HEAD]))  # where columns say what they make
        table = yield from parse(text, charge, start)
        return (yield from _from_table(form, head, table, attachments, borrower, charge, ordered))
    except _UNREADABLE as error:
        raise _unreadable(error) from None


def _from_table(
    form: str,
    head: str,
    table: Any,
    attachments: Sequence[Buffer],
    borrower: Borrower | None,
    charge: Charge,
    ordered: bool,
) -> Steps:
    if form == "C":
        return decode_columns(declared_size(head), table, attachments, ordered)
    if form == "T" and not head and isinstance(table, list) and table:
        return decode_table(table, attachments, borrower, charge, ordered)
    raise ProtocolError("a value has an unknown form")


_UNREADABLE = (
    ValueError, TypeError, KeyError, IndexError, RecursionError, OverflowError, struct.error,
)  # fmt: skip


def _unreadable(error: Exception) -> ProtocolError:
    return ProtocolError(f"a value cannot be decoded: {str(error)[:200]}")
