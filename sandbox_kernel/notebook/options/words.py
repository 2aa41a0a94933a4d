"""Splits a magic's line into words, and keeps JSON and Python expressions whole.

A word ends at a space outside quotes and brackets, so `--args [1, "a b"]` is two words. Quotes and
brackets belong to the value; only quotes around a whole word are removed, as in a shell.
"""

from __future__ import annotations

from dataclasses import dataclass

from ...errors import OptionError

_OPENING = {"(": ")", "[": "]", "{": "}"}


@dataclass(frozen=True, slots=True)
class Word:
    """One word as written in the line, and where it starts."""

    text: str
    start: int

    @property
    def end(self) -> int:
        return self.start + len(self.text)


def words_of(line: str) -> list[Word]:
    """The words; a quote or bracket that is never closed is an error that shows it."""
    words, problem = split_words(line)
    if problem:
        raise OptionError(problem)
    return words


def split_words(line: str) -> tuple[list[Word], str | None]:
    """The words, and an error text if the last one has an open quote or bracket."""
    words: list[Word] = []
    at = 0
    while at < len(line):
        if line[at].isspace():
            at += 1
            continue
        end, problem = _word_end(line, at)
        words.append(Word(line[at:end], at))
        if problem:
            return words, problem
        at = end
    return words, None


def _word_end(line: str, at: int) -> tuple[int, str | None]:
    open_brackets: list[tuple[str, int]] = []
    while at < len(line):
        character = line[at]
        if character in "\"'":
            closing = _closing_quote(line, at)
            if closing < 0:
                return len(line), f"the quote {character} in {line[at:]!r} is never closed"
            at = closing
        elif character in _OPENING:
            open_brackets.append((_OPENING[character], at))
        elif open_brackets and character == open_brackets[-1][0]:
            open_brackets.pop()
        elif character.isspace() and not open_brackets:
            return at, None
        at += 1
    if open_brackets:
        opened = open_brackets[-1][1]
        return len(line), f"the bracket {line[opened]} in {line[opened:]!r} is never closed"
    return len(line), None


def _closing_quote(line: str, at: int) -> int:
    mark = line[at]
    at += 1
    while at < len(line):
        if line[at] == "\\":
            at += 1
        elif line[at] == mark:
            return at
        at += 1
    return -1


def unquoted(text: str) -> str:
    """The text without its quotes, if one pair encloses all of it."""
    if len(text) >= 2 and text[0] in "\"'" and _closing_quote(text, 0) == len(text) - 1:
        return text[1:-1].replace("\\" + text[0], text[0])
    return text


def listed(name: str, text: str) -> list[str]:
    """The value of an option that is a list, `A,B`; commas in brackets, as of extras, separate nothing."""
    parts, depth = [""], 0
    for character in text:
        depth += {"[": 1, "]": -1}.get(character, 0)
        if character == "," and depth <= 0:
            parts.append("")
        else:
            parts[-1] += character
    words = [part.strip() for part in parts]
    if not all(words):
        raise OptionError(f"--{name} {text} has an empty name; write it like A,B", name)
    return words
