"""Text of the guest made harmless to show: nothing in it is invisible, moves a cursor or reorders
a line.

Every path to a screen passes here, whatever the MIME type: stdout and stderr, results, tracebacks,
names in tables, answers to inspection. Newlines and tabs stay; the rest becomes its escape.
"""

from __future__ import annotations

import re

# Lone surrogates cannot be in any UTF-8 message; terminal escapes begin with a control.
_CONTROLS = "\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff"
# All of Unicode's format characters (category Cf): direction marks, joiners, tags and the like.
_FORMATS = (
    "\xad\u0600-\u0605\u061c\u06dd\u070f\u0890\u0891\u08e2\u180e\u200b\u200c\u200e\u200f\u202a-\u202e"
    "\u2060-\u206f\ufeff\ufff9-\ufffb\U000110bd\U000110cd\U00013430-\U0001343f"
    "\U0001bca0-\U0001bca3\U0001d173-\U0001d17a"
)
# What else is drawn as nothing, and the two separators that some viewers break lines at.
_UNSEEN = (
    "\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u2028\u2029\u3164\ufe00-\ufe0d\uffa0"
    "\ufff0-\ufff8\U0001d159\U000e0000-\U000e0fff"
)
# Inside an emoji a joiner and a selector of its style change how it is drawn, and hide nothing:
# a joiner between two emoji, a style directly behind one, or between a digit and its keycap.
_EMOJI = (
    "\xa9\xae\u203c\u2049\u2122\u2139\u2194-\u21aa\u231a-\u23ff\u24c2\u25aa-\u25fe\u2600-\u27bf"
    "\u2934\u2935\u2b05-\u2b55\u3030\u303d\u3297\u3299\U0001f000-\U0001faff"
)
_JOINER, _STYLE, _KEYCAP = "\u200d", "[\ufe0e\ufe0f]", "\u20e3"
_OUTSIDE_OF_EMOJI = "|".join(
    (
        f"{_JOINER}(?![{_EMOJI}])",
        f"{_JOINER}(?<![{_EMOJI}]{_JOINER})(?<![{_EMOJI}]{_STYLE}{_JOINER})",
        f"{_STYLE}(?<![{_EMOJI}0-9#*]{_STYLE})",
        f"{_STYLE}(?<![{_EMOJI}]{_STYLE})(?!{_KEYCAP})",
    )
)
_HARMFUL = re.compile(f"[{_CONTROLS}{_FORMATS}{_UNSEEN}]|{_OUTSIDE_OF_EMOJI}")
_HARMFUL_OR_BREAKING = re.compile(f"[{_CONTROLS}{_FORMATS}{_UNSEEN}\t\n]|{_OUTSIDE_OF_EMOJI}")
# The same and perhaps more, but ten times as fast to find out that there is nothing.
_SUSPECT = re.compile(f"[{_CONTROLS}{_FORMATS}{_UNSEEN}{_JOINER}\ufe0e\ufe0f]")
_CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f]")  # what of that is ASCII
_SUSPECT_OR_BREAKING = re.compile(f"{_SUSPECT.pattern[:-1]}\t\n]")

_SHORT = {"\b": "\\b", "\t": "\\t", "\n": "\\n", "\v": "\\v", "\f": "\\f", "\r": "\\r"}
_PIECE = 16_000  # characters that are cleaned at a time
_SEAM = 8  # characters more that a piece may have
_MOST_ESCAPED = 80_000  # characters, at most, of pieces in which there is something to escape


def clean(text: str) -> str:
    """Harmless, line structure kept; a carriage return before a newline is just a newline."""
    if "\r" in text:
        text = text.replace("\r\n", "\n")
    return _HARMFUL.sub(_escape, text) if _is_suspect(text) else text


def _is_suspect(text: str) -> bool:
    if text.isascii():
        return not text.isprintable() and _CONTROL.search(text) is not None
    return _SUSPECT.search(text) is not None


def clean_line(text: str) -> str:
    """Harmless and on one line, for names, messages in a table, and the like."""
    if not _SUSPECT_OR_BREAKING.search(text):
        return text
    return _HARMFUL_OR_BREAKING.sub(_escape, text)


def clean_name(text: str) -> str:
    """A name that decides something: whatever could look like another letter is its escape."""
    return clean_line(text).encode("ascii", "backslashreplace").decode()


def is_plain(text: str) -> bool:
    """Whether it needs neither cleaning nor escapes between single quotes; quick, and may be wrong
    about a text that does not."""
    return text.isascii() and text.isprintable() and "'" not in text and "\\" not in text


def clean_start(text: str, most: int) -> tuple[str, int]:
    """As much of a text as has `most` characters when cleaned, and how many more there are.

    Escaping is slow, so of a long text that needs much of it less is shown.
    """
    if len(text) <= min(most, _PIECE):
        return _split(clean(text), most)
    parts, at, room, escaping = [], 0, most, _MOST_ESCAPED
    while at < len(text) and room > 0 and escaping > 0:
        suspect = _is_suspect(text[at : at + _PIECE + _SEAM])
        end = _seam(text, at + _piece_size(room, suspect))
        piece = text[at:end]
        part = clean(piece) if suspect else piece
        parts.append(part)
        room -= len(part)
        escaping -= len(part) if part is not piece else 0
        at = end
    shown, cut = _split("".join(parts), most)
    return shown, cut + len(text) - at


def _piece_size(room: int, suspect: bool) -> int:
    """All that fits, or less of a text with escapes, most of which would be made to be cut."""
    return min(_PIECE, room, max(64, room // 10) if suspect else room)


def _split(text: str, most: int) -> tuple[str, int]:
    return (text, 0) if len(text) <= most else (trimmed(text[:most]), len(text) - most)


def _seam(text: str, at: int) -> int:
    """A place near `at` that does not tear a line break or an emoji apart."""
    for end in range(at, min(at + _SEAM, len(text))):
        if text[end] not in "\n\u200d\ufe0e\ufe0f\u20e3" and text[end - 1] != _JOINER:
            return end
    return min(at, len(text))


def trimmed(text: str) -> str:
    """Clean text that was cut: without the joiners of an emoji that was torn apart."""
    return text.rstrip(_JOINER)


def is_clean(text: str) -> bool:
    """Whether `clean` would leave it as it is."""
    return not _is_suspect(text) or _HARMFUL.search(text) is None


def _escape(match: re.Match[str]) -> str:
    return _ESCAPES[match[0]]


class _Escapes(dict[str, str]):
    """Each is spelled once: there are some thousand characters that need it."""

    def __missing__(self, character: str) -> str:
        self[character] = escape = _spelled(ord(character))
        return escape


def _spelled(code: int) -> str:
    if code < 256:
        return f"\\x{code:02X}"
    return f"\\u{code:04X}" if code < 0x10000 else f"\\u{{{code:X}}}"


_ESCAPES = _Escapes(_SHORT)
