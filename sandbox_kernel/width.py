"""How wide a text is on a screen with one width for all letters."""

from __future__ import annotations

import unicodedata


def display_width(text: str) -> int:
    """Columns on a screen: two for wide characters, none for combining marks."""
    if text.isascii() or (text[-1] == "…" and text[:-1].isascii()):
        return len(text)
    return sum(map(_width, text))


def _width(character: str) -> int:
    if unicodedata.combining(character) or character in "\u200d\ufe0e\ufe0f":
        return 0
    return 2 if unicodedata.east_asian_width(character) in "WF" else 1
