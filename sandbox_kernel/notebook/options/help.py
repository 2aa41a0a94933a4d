"""Help with the options: a list of them, and completion of a line being typed."""

from __future__ import annotations

from collections.abc import Callable

from .grammar import OPTIONS, Face, Option, Table, known_options
from .words import split_words


def options_help(face: Face, table: Table = OPTIONS) -> str:
    """The options as an aligned list."""
    known = known_options(face, table)
    rows = [(f"--{each.name} {each.value or ''}".rstrip(), each) for each in known]
    width = max(len(usage) for usage, _ in rows)
    return "\n".join(
        f"  {usage:<{width}}  {option.help}{' (repeatable)' if option.repeatable else ''}"
        for usage, option in rows
    )


def option_at(line: str, cursor: int, face: Face, table: Table = OPTIONS) -> Option | None:
    """The option that the cursor is on."""
    for word in split_words(line)[0]:
        if word.start <= cursor <= word.end and word.text.startswith("--"):
            name = word.text[2:].partition("=")[0]
            return next((each for each in known_options(face, table) if each.name == name), None)
    return None


def option_help(option: Option) -> str:
    """`--fn NAME`, and what it does."""
    usage = f"--{option.name} {option.value or ''}".rstrip()
    return f"{usage}\n{option.help}{' (repeatable)' if option.repeatable else ''}"


def complete_options(
    line: str, face: Face, names: Callable[[Option, str], list[str]], table: Table = OPTIONS
) -> tuple[int, list[str]]:
    """Where the last word of `line` starts, and its completions; `line` ends at the cursor.

    `names(option, typed)` gives the values that only the face knows, such as its bridges.
    """
    words, _ = split_words(line)
    typing = words.pop() if words and words[-1].end == len(line) else None
    typed = typing.text if typing else ""
    start = typing.start if typing else len(line)
    previous = words[-1].text if words else ""
    awaited = _valued(previous, face, table)
    if awaited:
        return _values(awaited, typed, start, names)
    name, equals, value = typed.partition("=")
    if equals and (option := _valued(name, face, table)):
        return _values(option, value, start + len(name) + 1, names)
    used = {word.text for word in words}
    matches = [
        f"--{option.name}"
        for option in known_options(face, table)
        if option.repeatable or f"--{option.name}" not in used
    ]
    return start, [match for match in matches if match.startswith(typed)]


def _valued(text: str, face: Face, table: Table) -> Option | None:
    for option in known_options(face, table):
        if option.value is not None and text == f"--{option.name}":
            return option
    return None


def _values(
    option: Option, typed: str, start: int, names: Callable[[Option, str], list[str]]
) -> tuple[int, list[str]]:
    """Values of an option; after `NAME=` only the source is being typed."""
    prefix, equals, source = typed.partition("=")
    if equals and "[=" in (option.value or ""):
        start, typed = start + len(prefix) + 1, source
    candidates = [*option.choices, *names(option, prefix + equals)]
    return start, [each for each in candidates if each.startswith(typed)]
