"""What kind of thing a module specifier is; both sides of the wall must agree on it."""

from __future__ import annotations

import re

URL_LIKE = re.compile(r"[A-Za-z][A-Za-z0-9+.\-]*:")
CONTROL = re.compile(r"[\x00-\x1f\x7f\u2028\u2029]")
MOST_BYTES = 4096  # of UTF-8, in any specifier
_SHOWN_CHARACTERS = 60


def is_bare(specifier: str) -> bool:
    """Whether only `imports` may answer for it: neither relative, nor absolute, nor URL-like."""
    return bool(specifier) and not (
        specifier.startswith((".", "/", "\\", "#"))
        or URL_LIKE.match(specifier)
        or CONTROL.search(specifier)
    )


def size_of(specifier: str) -> int:
    """In bytes of UTF-8, as `MOST_BYTES` counts."""
    return len(specifier.encode("utf-8", "surrogatepass"))


def shortened(specifier: str) -> str:
    """How one that is too long is shown."""
    return specifier[:_SHOWN_CHARACTERS] + "…"
