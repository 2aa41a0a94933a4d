"""The nearest of some known names, for messages about one that is not known.

A wrong guess is worse than none: only what is near is suggested, or what a table of synonyms says.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping
from itertools import islice

_COMPARED = 1_000  # known names at most
_LONGEST = 100  # characters of a name; comparing takes the square of it


def nearest(name: str, known: Iterable[str], similarity: float = 0.65) -> str | None:
    """The known name that is spelled most like `name`; None if none is similar enough (0 to 1)."""
    if len(name) > _LONGEST:
        return None
    names = [each for each in islice(known, _COMPARED) if len(each) <= _LONGEST]
    close = difflib.get_close_matches(name, names, n=1, cutoff=similarity)
    return close[0] if close else None


def synonyms(**words: str) -> dict[str, str]:
    """A table from other words for a name, separated by spaces, to the name."""
    return {word: name for name, others in words.items() for word in others.split()}


def suggestion(
    name: str,
    known: Iterable[str],
    mark: str = "",
    *,
    others: Mapping[str, str] | None = None,
    quote: str = "",
) -> str:
    """`did you mean --fn?`, or the whole list if nothing is near; `mark` is put before names.

    `others` are synonyms; `quote` is put around a name that is meant.
    """
    names = list(known)
    meant = (others or {}).get(name.lower().replace("-", "_"))
    close = meant if meant in names else nearest(name, names)
    if close is not None:
        return f"did you mean {quote}{mark}{close}{quote}?"
    return f"known: {', '.join(mark + each for each in names)}"
