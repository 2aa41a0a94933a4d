"""Translates positions in compiled text (in UTF-8 bytes) to positions in the source (characters)."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection
from typing import NamedTuple

_LINE_BREAK = re.compile(r"\r\n|[\n\r\u2028\u2029]")
_FRAME = re.compile(
    r"^ *at (?:(?P<function>.*) \()?(?P<file>.+?)(?::(?P<line>\d+):(?P<column>\d+))?\)?$"
)  # where the engine knows no line, because nothing before has one, it is the beginning
_SOUGHT_CHARACTERS = 200  # the beginning of a long specifier is enough to find it


class Position(NamedTuple):
    filename: str
    line: int
    column: int


class Sources:
    """The compiled texts of one run, by the engine's name for them."""

    def __init__(self) -> None:
        self._texts: dict[str, tuple[str, Callable[[int, int], int]]] = {}
        self._lines: dict[str, list[str]] = {}

    def add(self, filename: str, text: str, source_column: Callable[[int, int], int]) -> None:
        self._texts[filename] = (text, source_column)

    def at(self, filename: str, line: int, column: int) -> Position | None:
        """The position in the source; None if the file does not belong to the guest."""
        if filename not in self._texts:
            return None
        text, source_column = self._texts[filename]
        lines = self._lines.get(filename)
        if lines is None:
            lines = self._lines[filename] = _LINE_BREAK.split(text)
        if 1 <= line <= len(lines):
            before = lines[line - 1].encode("utf-8", "surrogatepass")[: column - 1]
            column = len(before.decode("utf-8", "ignore")) + 1
        return Position(filename, line, source_column(line, column))

    def translate(
        self, stack: str, constructors: Collection[str] = ()
    ) -> tuple[str, Position | None]:
        """The guest's frames of a stack with source positions, and the position of the first.

        An error of a class of the guest's begins with frames of its constructors, which are not
        where it was made.
        """
        frames: list[str] = []
        first: Position | None = None
        made: Position | None = None
        for raw in stack.splitlines()[:200]:
            found = _FRAME.match(raw[:2000])
            place = found and self.at(*_place(found))
            if not found or not place:
                continue
            where = f"{place.filename}:{place.line}:{place.column}"
            name = found["function"]
            shown = "" if name in (None, "<anonymous>", "<eval>") else name
            frames.append(f"    at {shown} ({where})" if shown else f"    at {where}")
            first = first or place
            made = made or (None if name in constructors else place)
        return "\n".join(frames), made or first

    def line_in(self, filename: str, stack: str) -> int:
        """The line of the innermost frame of the guest's, if that is in this file; 0 if it is not."""
        place = self.translate(stack)[1]
        return place.line if place is not None and place.filename == filename else 0

    # -- positions in compiled text, for those who look at it

    def filenames(self) -> list[str]:
        return list(self._texts)

    def text(self, filename: str) -> str | None:
        return self._texts[filename][0] if filename in self._texts else None

    def first_place(self, stack: str) -> Position | None:
        """Where the first frame of a stack is in compiled text; None if that is not the guest's.

        The column counts bytes, as the engine does.
        """
        found = _FRAME.match(stack.partition("\n")[0][:2000])
        if found is None or found["file"] not in self._texts:
            return None
        return Position(*_place(found))

    def translated(self, place: Position) -> Position | None:
        return self.at(*place)

    def offset(self, place: Position) -> int | None:
        """The same as a number of bytes."""
        text = self._texts[place.filename][0]
        start = 0
        for _ in range(place.line - 1):
            found = _LINE_BREAK.search(text, start)
            if found is None:
                return None
            start = found.end()
        return len(text[:start].encode("utf-8", "surrogatepass")) + place.column - 1

    def moved(self, stack: str, place: Position, offset: int) -> str:
        """A stack whose first frame is at a number of bytes instead."""
        data = self._texts[place.filename][0].encode("utf-8", "surrogatepass")[:offset]
        lines = _LINE_BREAK.split(data.decode("utf-8", "surrogatepass"))
        column = len(lines[-1].encode("utf-8", "surrogatepass")) + 1
        old = f":{place.line}:{place.column}"
        first, rest = stack.partition("\n")[::2]
        head, _, tail = first.rpartition(old)
        moved = f"{head}:{len(lines)}:{column}{tail}" if head else first
        return f"{moved}\n{rest}" if rest else moved

    def position(self, filename: str, offset: int) -> Position:
        """The position in the source of a number of bytes."""
        text, source_column = self._texts[filename]
        before = text.encode("utf-8", "surrogatepass")[:offset].decode("utf-8", "surrogatepass")
        breaks = list(_LINE_BREAK.finditer(before))
        line, start = len(breaks) + 1, breaks[-1].end() if breaks else 0
        return Position(filename, line, source_column(line, len(before) - start + 1))

    def find_import(self, specifier: str, filename: str | None = None) -> Position | None:
        """Where a module imports a specifier; the engine gives no position for link errors."""
        for name in self._texts if filename is None else (filename,):
            place = self._find_import_in(name, specifier)
            if place:
                return place
        return None

    def _find_import_in(self, filename: str, specifier: str) -> Position | None:
        text, source_column = self._texts.get(filename, ("", _same))
        sought = re.escape(specifier) + r"\1"
        if len(specifier) > _SOUGHT_CHARACTERS:
            sought = re.escape(specifier[:_SOUGHT_CHARACTERS])
        found = re.search(rf"(?:from|import)\s*(?:\(\s*)?(['\"]){sought}", text)
        if not found:
            return None
        start = found.start(1)
        breaks = list(_LINE_BREAK.finditer(text, 0, start))
        line = len(breaks) + 1
        column = start - (breaks[-1].end() if breaks else 0) + 1
        return Position(filename, line, source_column(line, column))


def _place(frame: re.Match[str]) -> tuple[str, int, int]:
    return frame["file"], int(frame["line"] or 1), int(frame["column"] or 1)


def _same(line: int, column: int) -> int:
    return column
