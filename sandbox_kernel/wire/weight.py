"""Estimates, without decoding a message, how many bytes of memory it takes once decoded."""

from __future__ import annotations

import re
from collections.abc import Sequence

from .frame import Buffer

UNIT = 30  # bytes; columns say in these what they make beyond their text
_SWOLLEN = 1 << 20  # bytes beyond their text from which on columns are decoded in steps
LONGEST_HEAD = 12  # bytes of the number before columns, with its letter and a bracket
_DECLARED = re.compile(rb"C([0-9]{1,10})\[")
_DECLARED_ON_A_LINE = re.compile(rb"^[RL]C([0-9]{1,10})\[", re.M)
# More than it keeps. Whenever Python collects garbage it visits every object that can hold others:
# so what one of these is charged with also bounds how long that takes.
_LIST = 240
_LINE = 128  # that a report or log takes beside its value
# What the text of a table does not show, because its Sets and Maps are also lists there.
MEMBER, ENTRY, FUNCTION, PROMISE = 150, 400, 100, 100


def weight(text: Buffer, attachments: Sequence[Buffer]) -> int:
    return weight_of_text(text) + sum(map(len, attachments)) + 200 * len(attachments)


def weight_of_text(text: Buffer) -> int:
    """Lists, objects and their items cost Python more than their brackets and commas do."""
    raw = text if type(text) is bytes else bytes(text)
    size = 128 + len(raw) + _LIST * raw.count(b"[") + 40 * raw.count(b",")
    # Most texts have none of the rest, and seeing that takes a tenth of the time of counting.
    if b"{" in raw:
        size += 200 * raw.count(b"{")
    if b":" in raw:
        size += 80 * raw.count(b":")
    if is_wide(raw):
        size += 3 * len(raw)
    return size + _swelling(raw) if b"C" in raw else size


def weight_of_lines(text: Buffer) -> int:
    """Of reports and logs, a line each."""
    return weight_of_text(text) + _LINE * bytes(text).count(b"\n")


def is_wide(raw: bytes) -> bool:
    """Whether Python may keep it at four bytes a character; a guest can escape what is not ASCII."""
    return not raw.isascii() or (b"\\" in raw and b"\\u" in raw)


def swells(text: Buffer) -> bool:
    """Whether it is columns that make so much that it takes several turns, however short it is."""
    return text[:1] == b"C" and _swelling(bytes(text[:LONGEST_HEAD])) > _SWOLLEN


def lines_swell(text: Buffer) -> bool:
    """The same of reports and logs, a line each."""
    raw = text if type(text) is bytes else bytes(text)
    return b"C" in raw and _swelling(raw) > _SWOLLEN


def _swelling(text: bytes) -> int:
    """What columns take beyond their text; they may stand on lines, too."""
    if alone := _DECLARED.match(text):
        return UNIT * int(alone[1])
    if b"\n" not in text:
        return 0
    return UNIT * sum(map(int, _DECLARED_ON_A_LINE.findall(text)))
