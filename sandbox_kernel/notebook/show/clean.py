"""Text of the guest made harmless to show: nothing in it moves a cursor or reorders a line.

Every path to a screen passes here, whatever the MIME type: stdout and stderr, results, tracebacks,
names in tables, answers to inspection. Newlines and tabs stay; the rest becomes its escape.
"""

from __future__ import annotations

import re

# C0 and C1 controls (terminal escapes begin there), direction marks and overrides, the two
# separators that some viewers break lines at, and lone surrogates, which no UTF-8 message can hold.
_HARMFUL = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff\ufff9-\ufffb]"
)
_HARMFUL_OR_BREAKING = re.compile(_HARMFUL.pattern[:-1] + "\t\n]")

_SHORT = {"\b": "\\b", "\t": "\\t", "\n": "\\n", "\v": "\\v", "\f": "\\f", "\r": "\\r"}


def clean(text: str) -> str:
    """Harmless, line structure kept; a carriage return before a newline is just a newline."""
    if "\r" in text:
        text = text.replace("\r\n", "\n")
    return _HARMFUL.sub(_escape, text) if _HARMFUL.search(text) else text


def clean_line(text: str) -> str:
    """Harmless and on one line, for names, messages in a table, and the like."""
    return _HARMFUL_OR_BREAKING.sub(_escape, text)


def is_clean(text: str) -> bool:
    """Whether `clean` would leave it as it is."""
    return _HARMFUL.search(text) is None


def _escape(match: re.Match[str]) -> str:
    character = match[0]
    code = ord(character)
    return _SHORT.get(character) or (f"\\x{code:02X}" if code < 256 else f"\\u{code:04X}")
