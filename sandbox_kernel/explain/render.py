"""A failure as lines of text: what, where (the line, a caret), how it got there, and a hint."""

from __future__ import annotations

import textwrap

from ..budget import clipped
from ..clean import clean, clean_line
from ..width import display_width
from .hints import hint_for
from .problem import Problem
from .scene import Scene

_MAX_FRAMES = 12
_MAX_MESSAGE = 4000
_MAX_NAME = 200  # of an error, a file, a specifier
_MAX_STACK = 100_000  # characters of a stack that are looked at
_MAX_LINE = 1000  # and of a line of it
_MAX_LINES = 500
_LINE_ROOM = 90  # characters of a source line around the caret, and of a line of a hint


def title_of(error: Problem, scene: Scene) -> tuple[str, str]:
    """Name and message, harmless and cut."""
    name = "terminated" if scene.status == "terminated" else _short_line(error.name)
    return name, clean(cut(error.message))


def render(error: Problem, scene: Scene) -> list[str]:
    """The lines. Never fails."""
    name, message = title_of(error, scene)
    lines = [f"{name}: {message}" if message else name]
    try:
        lines += [*_specifier(error), *_place(error, scene), *_frames(error, scene)]
        lines += _hint(error, scene)
    except Exception as fault:
        lines.append(f"  (the rest cannot be shown: {type(fault).__name__})")
    return "\n".join(lines).split("\n")


def cut(message: str) -> str:
    left = len(message) - _MAX_MESSAGE
    return message if left <= 0 else f"{message[:_MAX_MESSAGE]}… ({left} more characters)"


def _short_line(text: str) -> str:
    return clean_line(clipped(text, _MAX_NAME))


def _specifier(error: Problem) -> list[str]:
    """The specifier, unless the message names it."""
    specifier = error.specifier
    if specifier is None or repr(specifier[:_MAX_LINE])[1:-1] in error.message[:_MAX_MESSAGE]:
        return []
    return [f"  specifier: '{_short_line(specifier)}'"]


def _hint(error: Problem, scene: Scene) -> list[str]:
    hint = hint_for(error, scene)
    return ["", *_folded(f"hint: {hint}")] if hint else []


def _folded(hint: str) -> list[str]:
    """Lines that fit a page, all but the first behind the word."""
    fold = textwrap.TextWrapper(_LINE_ROOM, break_long_words=False, break_on_hyphens=False)
    lines = [part for line in hint.split("\n") for part in fold.wrap(line)]
    return [lines[0], *(f"      {line}" for line in lines[1:])]


def _place(error: Problem, scene: Scene) -> list[str]:
    """The file, the source line, and a caret under the column."""
    if error.line is None:
        return []
    position = f"{error.line}:{error.column}" if error.column else str(error.line)
    where = f"  {_short_line(error.filename or scene.filename)}:{position}"
    source = scene.source_of(error.filename or scene.filename)
    lines = source.split("\n") if source is not None else []
    if not 0 < error.line <= len(lines):
        return ["", where]
    label = f"  {error.line:>4} | "
    text, caret = _quote_line(lines[error.line - 1].rstrip("\r"), error.column)
    quoted = ["", where, f"{label}{text}"]
    return [*quoted, f"{' ' * (len(label) - 2)}| {caret}"] if error.column else quoted


def _quote_line(line: str, column: int | None) -> tuple[str, str]:
    """A line cut to the caret's surroundings, and the caret as far in as the screen shows it."""
    at = min((column or 1) - 1, len(line))
    start = max(0, min(at - _LINE_ROOM // 2, len(line) - _LINE_ROOM))
    before = ("…" if start else "") + _shown(line[start:at])
    after = _shown(line[at : start + _LINE_ROOM])
    ending = "…" if start + _LINE_ROOM < len(line) else ""
    return f"{before}{after}{ending}", " " * display_width(before) + "^"


def _shown(text: str) -> str:
    return clean_line(text.replace("\t", "    "))


def _frames(error: Problem, scene: Scene) -> list[str]:
    """The frames in user code; one that only repeats the place above says nothing more."""
    stack = (error.stack or "")[:_MAX_STACK]
    lines = stack.split("\n", _MAX_LINES)[:_MAX_LINES]
    frames = [frame for line in lines if (frame := _frame(line[:_MAX_LINE], scene))]
    own_place = f"{error.filename or scene.filename}:{error.line}:{error.column}"
    if len(frames) == 1 and own_place in frames[0]:
        return []
    shown = frames[:_MAX_FRAMES]
    if len(frames) > len(shown):
        shown.append(f"  ... {len(frames) - len(shown)} more frames")
    return ["", *shown] if shown else []


def _frame(line: str, scene: Scene) -> str | None:
    """The line as it is shown; None unless it is a frame in a file that the run was given."""
    text = line.strip()
    filename = _file_of(text)
    if filename is None or scene.source_of(filename) is None:
        return None
    return f"  {clean_line(text)}"


def _file_of(frame: str) -> str | None:
    """The file in `at name (file:1:2)`, `at file:1:2` or `at file:1`; None if it is not a frame.

    Read from its end, because a guest chooses the names in it; without a regular expression,
    because with so many ways to match it would take a guest's text quadratic time.
    """
    if not frame.startswith("at "):
        return None
    _, opening, inside = frame.rpartition(" (")
    place = inside.removesuffix(")") if opening else frame[3:]
    file, _, last = place.rpartition(":")
    before, _, line = file.rpartition(":")
    if not _is_number(last):
        return None
    return before if before and _is_number(line) else file or None


def _is_number(text: str) -> bool:
    return text.isascii() and text.isdecimal()
