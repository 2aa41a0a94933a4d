"""A failed run as a traceback: what, where (the line, a caret), how it got there, and a hint."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from ...contract import CodeExecutionError, CodeExecutionResult
from ...errors import OptionError
from ..options.grammar import Face
from .clean import clean, clean_line
from .hints import hint_for
from .table import display_width

_FRAME = re.compile(
    r"\s*at (?:(?P<name>.*) \()?(?P<file>.+?):(?P<line>\d+)(?::(?P<column>\d+))?\)?"
)
_MAX_FRAMES = 12
_MAX_MESSAGE = 4000
_MAX_NAME = 200
_LINE_ROOM = 90  # characters of a source line around the caret, and of a line of a hint


@dataclass(frozen=True, slots=True)
class Scene:
    """What the run was given: enough to quote its source and to say what could be used instead."""

    filename: str
    source: str
    modules: Mapping[str, str] = field(default_factory=dict)
    imports: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    globals: Mapping[str, Any] = field(default_factory=dict)
    face: Face = "kernel"

    def source_of(self, filename: str | None) -> str | None:
        """The text of the entry or of a module; stack frames name modules with or without `./`."""
        if filename == self.filename:
            return self.source
        if filename is None:
            return None
        return self.modules.get(filename) or self.modules.get(f"./{filename}")


@dataclass(frozen=True, slots=True)
class Traceback:
    """A traceback ready to send or raise."""

    name: str
    message: str
    lines: list[str]


def traceback_of(result: CodeExecutionResult, scene: Scene) -> Traceback:
    """The traceback for a run that did not succeed."""
    error = result.error or CodeExecutionError(result.status, "")
    name = "terminated" if result.status == "terminated" else clean_line(error.name[:_MAX_NAME])
    message = clean(_cut(error.message))
    lines = [f"{name}: {message}" if message else name]
    if error.specifier is not None and repr(error.specifier)[1:-1] not in error.message:
        lines.append(f"  specifier: '{clean_line(error.specifier)}'")
    lines += _place(error, scene)
    lines += _frames(error, scene)
    hint = hint_for(result.status, error, scene.imports, scene.modules, scene.globals, scene.face)
    if hint:
        lines += ["", *_folded(f"hint: {clean(hint)}")]
    return Traceback(name, message, "\n".join(lines).split("\n"))


def refusal_of(error: Exception) -> Traceback:
    """The traceback for an error of the host's, most often one raised before anything ran."""
    name, message = type(error).__name__, clean(str(error))
    title = "Error in a magic" if isinstance(error, OptionError) else name
    return Traceback(name, message, [f"{title}: {message}"])


def _cut(message: str) -> str:
    left = len(message) - _MAX_MESSAGE
    return message if left <= 0 else f"{message[:_MAX_MESSAGE]}… ({left} more characters)"


def _folded(hint: str) -> list[str]:
    """Lines that fit a page, all but the first behind the word."""
    fold = textwrap.TextWrapper(_LINE_ROOM, break_long_words=False, break_on_hyphens=False)
    lines = [part for line in hint.split("\n") for part in fold.wrap(line)]
    return [lines[0], *(f"      {line}" for line in lines[1:])]


def _place(error: CodeExecutionError, scene: Scene) -> list[str]:
    """The file, the source line, and a caret under the column."""
    if error.line is None:
        return []
    position = f"{error.line}:{error.column}" if error.column else str(error.line)
    where = f"  {clean_line(error.filename or scene.filename)}:{position}"
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


def _frames(error: CodeExecutionError, scene: Scene) -> list[str]:
    """The frames in user code; one that only repeats the place above says nothing more."""
    frames = [frame for line in (error.stack or "").split("\n") if (frame := _frame(line, scene))]
    own_place = f"{error.filename or scene.filename}:{error.line}:{error.column}"
    if len(frames) == 1 and own_place in frames[0]:
        return []
    shown = frames[:_MAX_FRAMES]
    if len(frames) > len(shown):
        shown.append(f"  ... {len(frames) - len(shown)} more frames")
    return ["", *shown] if shown else []


def _frame(line: str, scene: Scene) -> str | None:
    match = _FRAME.fullmatch(line[:1000])
    if match is None or scene.source_of(match["file"]) is None:
        return None
    return f"  {clean_line(line.strip())}"
