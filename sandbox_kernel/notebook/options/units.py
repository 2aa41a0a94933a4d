"""Sizes and times as people write them, for `--memory` and `--deadline` wherever they are typed."""

from __future__ import annotations

import re
from dataclasses import dataclass

from ...errors import OptionError

_SIZE = re.compile(r"(\d+(?:\.\d+)?)\s*([kmg]?)(i?)b?", re.IGNORECASE)
_LARGEST = 2**53
_TIME = re.compile(r"(\d+(?:\.\d+)?)\s*(ms|s|m|min|h)?", re.IGNORECASE)
_SECONDS = {"ms": 0.001, "s": 1.0, "m": 60.0, "min": 60.0, "h": 3600.0}


@dataclass(frozen=True, slots=True)
class Deadline:
    """A time budget; `text` is how the author wrote it, and the reason quotes it."""

    seconds: float
    text: str

    @property
    def reason(self) -> str:
        return f"{self.text} budget"


def read_size(text: str) -> int:
    """`64MiB`, `500kB` or `1048576` as bytes."""
    match = _SIZE.fullmatch(text)
    if not match:
        raise OptionError(f"--memory {text} is not a size; write it like 64MiB", "memory")
    decimal = text.lower().endswith("b") and not match[3]
    unit = (1000 if decimal else 1024) ** " kmg".index(match[2].lower() or " ")
    size = int(float(match[1]) * unit)
    if not 0 < size <= _LARGEST:
        wrong = "zero" if size <= 0 else "more than any machine has"
        raise OptionError(f"--memory {text} is {wrong}; write a size like 64MiB", "memory")
    return size


def read_deadline(text: str) -> Deadline:
    """`2s`, `500ms` or `1m`; a bare number is seconds."""
    match = _TIME.fullmatch(text)
    if not match or float(match[1]) == 0:
        wrong = "is zero; write a time" if match else "is not a time; write it"
        raise OptionError(f"--deadline {text} {wrong} like 2s or 500ms", "deadline")
    seconds = float(match[1]) * _SECONDS[(match[2] or "s").lower()]
    return Deadline(seconds, text if match[2] else f"{text}s")
