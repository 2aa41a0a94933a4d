"""The text of what is to run: a file, or stdin."""

from __future__ import annotations

import sys
from pathlib import Path

from ..errors import OptionError
from ..folders import did_you_mean, read_text

_MOST_BYTES = 16 * 2**20


def source_of(file: str) -> str:
    """`-` is stdin. Raises `OptionError` if there is no such text."""
    return _from_stdin() if file == "-" else _from_file(Path(file))


def _from_file(path: Path) -> str:
    try:
        return read_text(path, _MOST_BYTES)
    except UnicodeDecodeError:
        raise OptionError(f"cannot read {path}: it is not UTF-8") from None
    except FileNotFoundError:
        raise OptionError(f"cannot read {path}: it does not exist{did_you_mean(path)}") from None
    except OSError as error:
        raise OptionError(f"cannot read {path}: {error.strerror}") from None


def _from_stdin() -> str:
    content = sys.stdin.buffer.read(_MOST_BYTES + 1)
    if len(content) > _MOST_BYTES:
        raise OptionError(f"stdin has more than {_MOST_BYTES:,} bytes")
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise OptionError("stdin is not UTF-8 text") from None
