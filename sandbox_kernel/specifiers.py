"""Rules for module specifiers, which the host and the worker must agree on."""

from __future__ import annotations

import re

URL_LIKE = re.compile(r"[A-Za-z][A-Za-z0-9+.\-]*:")
CONTROL = re.compile(r"[\x00-\x1f\x7f\u2028\u2029]")
MOST_BYTES = 4096  # of UTF-8, in any specifier
_SHOWN_CHARACTERS = 60


def is_bare(specifier: str) -> bool:
    """Whether only `imports` can resolve it: it is not relative, absolute or URL-like."""
    return bool(specifier) and not (
        specifier.startswith((".", "/", "\\", "#"))
        or URL_LIKE.match(specifier)
        or CONTROL.search(specifier)
    )


def folder_of_entry(filename: str) -> list[str]:
    """The folder of a relative path inside the module graph; the root for any other file name."""
    parts = filename.split("/")
    if filename.startswith(("/", "<")) or ":" in parts[0] or ".." in parts:
        return []
    return [part for part in parts[:-1] if part not in ("", ".")]


def size_of(specifier: str) -> int:
    """The size in bytes of UTF-8, to compare with `MOST_BYTES`."""
    return len(specifier.encode("utf-8", "surrogatepass"))


def shortened(specifier: str) -> str:
    """The beginning of a specifier that is too long to show."""
    return specifier[:_SHOWN_CHARACTERS] + "…"
