"""The nearest of some known names, for messages about one that is not known."""

from __future__ import annotations

import difflib
from collections.abc import Iterable


def nearest(name: str, known: Iterable[str], similarity: float = 0.5) -> str | None:
    """The known name that is spelled most like `name`; None if none is similar enough (0 to 1)."""
    close = difflib.get_close_matches(name, list(known), n=1, cutoff=similarity)
    return close[0] if close else None


def suggestion(name: str, known: Iterable[str], mark: str = "") -> str:
    """`did you mean --fn?`, or the whole list if nothing is near; `mark` is put before names."""
    names = list(known)
    close = nearest(name, names)
    if close is not None:
        return f"did you mean {mark}{close}?"
    return f"known: {', '.join(mark + each for each in names)}"
