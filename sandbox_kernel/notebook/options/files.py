"""Values and sources that are written as text or lie in files: `10`, `@rows.json`, `@rows.csv`."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

from ... import folders
from ...errors import OptionError
from ...folders import did_you_mean
from ...values import MAX_SAFE_INTEGER

T = TypeVar("T")

_MOST_BYTES = 256 * 2**20
_TEXTS = (".txt", ".md")


def parse_json(text: str) -> Any:
    """JSON as JavaScript reads it: a whole number that is not safe becomes a float."""
    return json.loads(text, parse_int=_number)


def read_value(path: str) -> Any:
    """A `.csv` as a list of records with texts in them, a `.txt` or `.md` as text, others as JSON."""
    text = read_source(path)
    suffix = Path(path).suffix.lower()
    if suffix in _TEXTS:
        return text
    if suffix == ".csv":
        return _records(path, text)
    try:
        return parse_json(text)
    except (ValueError, RecursionError) as error:
        raise OptionError(f"@{path} is not JSON: {error}") from None


def read_source(path: str) -> str:
    """The text of a file."""
    return _read(path, folders.read_text)


def read_content(path: str) -> bytes:
    """The bytes of a file, for a program."""
    return _read(path, folders.read_bytes)


def _read(path: str, read: Callable[[Path, int], T]) -> T:
    try:
        return read(Path(path).expanduser(), _MOST_BYTES)
    except FileNotFoundError:
        raise OptionError(f"@{path} does not exist{did_you_mean(path)}") from None
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not UTF-8"
        raise OptionError(f"cannot read @{path}: {reason}") from None


def _number(digits: str) -> int | float:
    value = int(digits) if len(digits) < 20 else float(digits)
    return value if abs(value) <= MAX_SAFE_INTEGER else float(value)


def _records(path: str, text: str) -> list[dict[str, str]]:
    rows = csv.reader(io.StringIO(text, newline=""), strict=True)
    try:
        header = next(rows, [])
        if len(set(header)) != len(header):
            raise OptionError(f"@{path} has a column twice in its header: {', '.join(header)}")
        return [_record(path, header, row, rows.line_num) for row in rows if row]
    except csv.Error as error:
        raise OptionError(f"@{path} is not CSV: line {rows.line_num}: {error}") from None


def _record(path: str, header: list[str], row: list[str], line: int) -> dict[str, str]:
    if len(row) != len(header):
        raise OptionError(
            f"@{path} is not CSV: line {line} has {len(row)} fields, its header has {len(header)}"
        )
    return dict(zip(header, row, strict=True))
